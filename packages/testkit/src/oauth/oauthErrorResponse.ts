/** An answer with an OAuth error (RFC 6749, 5.2). */
export class OAuthErrorResponse extends Error {
  readonly error: string;
  readonly status: number;

  constructor(error: string, description: string, status = error === 'invalid_client' ? 401 : 400) {
    super(description);
    this.error = error;
    this.status = status;
  }
}
