import type { Clock, Keyring } from '@behalf/kernel';
import { credentialContext, credentialId, type CredentialStore } from '../../ports/index.ts';
import { loginKey } from '../loginKey.ts';

/** A token this close to its end may be over when it arrives. */
const MARGIN_MS = 30_000;

/** What the provider gave at a login. */
export interface FederatedTokens {
  /** Whom the login proved. Who uses the tokens compares it with the account. */
  readonly issuer: string;
  readonly subject: string;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly idToken: string;
  /** Of the access token. */
  readonly expiresAt: number;
}

/** Whose session. */
export interface LoginSession {
  readonly tenant: string;
  readonly userId: string;
  /** Its hash. */
  readonly session: string;
}

export interface LoginTokens {
  /** Kept until the session ends at the latest, also past the access token's own end: then they are there to refresh. */
  put(of: LoginSession, tokens: FederatedTokens, sessionExpiresAt: number): Promise<void>;
  /** Null when there are none. They may be past their end: `usableUntil` says. */
  find(of: LoginSession): Promise<FederatedTokens | null>;
  /** False when there were none. */
  remove(of: LoginSession): Promise<boolean>;
}

export interface LoginTokenParts {
  readonly credentials: CredentialStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/** Until when the access token is good for anything. */
export function usableUntil({ expiresAt }: Pick<FederatedTokens, 'expiresAt'>): number {
  return expiresAt - MARGIN_MS;
}

/** The tokens never leave the gateway; in the store they are sealed to their session. */
export function createLoginTokens({ credentials, keyring, clock }: LoginTokenParts): LoginTokens {
  return {
    async put(of, tokens, sessionExpiresAt) {
      const key = loginKey(of);
      const now = clock.now();
      await credentials.put({
        ...key,
        id: credentialId(key),
        sealed: keyring.seal(JSON.stringify(tokens), credentialContext(key)),
        expiresAt: sessionExpiresAt,
        createdAt: now,
        updatedAt: now,
      });
    },
    async find(of) {
      const record = await credentials.find(loginKey(of));
      if (!record || (record.expiresAt !== null && record.expiresAt <= clock.now())) return null;
      return JSON.parse(keyring.open(record.sealed, credentialContext(record))) as FederatedTokens;
    },
    remove: (of) => credentials.remove(loginKey(of)),
  };
}
