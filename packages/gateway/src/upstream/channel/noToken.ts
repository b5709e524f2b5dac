/**
 * A bearer had no token, so nothing was sent. Inside a channel it stands apart from what the network does; whoever asked
 * gets the bearer's very error.
 */
export class NoToken extends Error {
  override readonly name = 'NoToken';
  readonly why: unknown;

  constructor(why: unknown) {
    super('A bearer gave no token');
    this.why = why;
  }
}

/** Throws the error on as whoever asked should see it. */
export function rethrow(error: unknown): never {
  throw error instanceof NoToken ? error.why : error;
}
