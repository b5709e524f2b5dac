/**
 * A bearer had no token, so nothing was sent. Inside a channel it stands apart from what the network does; whoever asked
 * gets the bearer's very error.
 */
export class TokenUnavailableError extends Error {
  override readonly name = 'TokenUnavailableError';
  readonly originalError: unknown;

  constructor(originalError: unknown) {
    super('The token source returned no token');
    this.originalError = originalError;
  }
}

/** Throws the error on as whoever asked should see it. */
export function rethrowOriginal(error: unknown): never {
  throw error instanceof TokenUnavailableError ? error.originalError : error;
}
