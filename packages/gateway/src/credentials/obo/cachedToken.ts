import type { ExchangedToken } from './exchangeProvider.ts';
import type { Subject } from './subject.ts';

/** An exchanged token and for how long it may be given out. All times are absolute: nothing is counted again on a hit. */
export interface CachedToken {
  readonly token: ExchangedToken;
  /** Before this: by the server's clock it is still good when it gets there, and the user's own token is. */
  readonly usableUntil: number;
  /** When it was asked for: of two tokens, the one asked for later takes the place. */
  readonly requestedAt: number;
}

const MAX_SKEW_MS = 60_000;

export function toCachedToken(token: ExchangedToken, subject: Pick<Subject, 'expiresAt'>): CachedToken {
  const skewMs = Math.min(MAX_SKEW_MS, token.lifetimeMs / 10);
  return {
    token,
    usableUntil: Math.min(token.expiresAt - skewMs, subject.expiresAt),
    requestedAt: token.expiresAt - token.lifetimeMs,
  };
}
