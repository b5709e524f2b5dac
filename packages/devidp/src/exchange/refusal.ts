/** A token request that is answered with an error. */
export class TokenRefusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    body: Readonly<Record<string, unknown>>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(`The token request is refused: ${String(body.error)}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}
