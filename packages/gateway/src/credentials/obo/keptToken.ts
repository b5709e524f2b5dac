import type { ExchangedToken } from './exchangeProvider.ts';
import type { Subject } from './subject.ts';

/** An exchanged token and for how long it may be given out. All times are absolute: nothing is counted again on a hit. */
export interface KeptToken {
  readonly token: ExchangedToken;
  /** Before this: by the server's clock it is still good when it gets there, and the user's own token is. */
  readonly until: number;
  /** When it was asked for: of two tokens, the one asked for later takes the place. */
  readonly askedAt: number;
}

const LONGEST_SKEW_MS = 60_000;

export function keptToken(token: ExchangedToken, subject: Pick<Subject, 'expiresAt'>): KeptToken {
  const skew = Math.min(LONGEST_SKEW_MS, token.lifetimeMs / 10);
  return {
    token,
    until: Math.min(token.expiresAt - skew, subject.expiresAt),
    askedAt: token.expiresAt - token.lifetimeMs,
  };
}
