export type RefusalReason =
  | 'too_large'
  | 'malformed'
  | 'algorithm'
  | 'critical_header'
  | 'type'
  | 'signature'
  | 'unknown_key'
  | 'issuer'
  | 'audience'
  | 'expired'
  | 'inactive'
  | 'not_yet_valid'
  | 'issued_in_future'
  | 'id_token'
  | 'not_access_token'
  | 'key_bound'
  | 'subject'
  | 'tenant'
  | 'client'
  | 'authorized_party'
  | 'scope'
  | 'replayed';

/** Why a token is not accepted: for the log alone, whoever sent it learns nothing of it. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
  readonly reason: RefusalReason;
  constructor(reason: RefusalReason) {
    super(`A token was refused: ${reason}`);
    this.reason = reason;
  }
}
