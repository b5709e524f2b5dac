import type { Clock, Keyring } from '@behalf/kernel';
import { credentialContext, credentialId, type CredentialStore } from '../../ports/index.ts';
import { loginKey } from '../loginKey.ts';

/** A token this close to its end may be over when it arrives. */
const MARGIN_MS = 30_000;

/** What the provider gave at a login. */
export interface FederatedTokens {
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
  /** Null when there are none, or none that are still good. */
  find(of: LoginSession): Promise<FederatedTokens | null>;
  /** False when there were none. */
  remove(of: LoginSession): Promise<boolean>;
}

export interface LoginTokenParts {
  readonly credentials: CredentialStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
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
      const tokens = JSON.parse(keyring.open(record.sealed, credentialContext(record))) as FederatedTokens;
      return tokens.expiresAt - MARGIN_MS > clock.now() ? tokens : null;
    },
    remove: (of) => credentials.remove(loginKey(of)),
  };
}
