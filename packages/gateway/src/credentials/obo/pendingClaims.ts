import { SealError, type Clock, type Keyring, type SealContext } from '@behalf/kernel';
import type { Cache } from '../../ports/index.ts';
import { normalizeClaims } from '../oauth/claims.ts';

/** The user should start the next sign-in within this time. */
const LIFETIME_MS = 10 * 60_000;

/** Claims that the provider requires at a user's next sign-in. Users are identified by `principalKey`. */
export interface PendingClaims {
  /** Replaces the stored claims. Ignores text that is not a JSON object or is too long. */
  put(principal: string, claims: string): Promise<void>;
  find(principal: string): Promise<string | undefined>;
  /** Call it when the sign-in that sent the claims ended, successfully or not. */
  remove(principal: string): Promise<void>;
}

export interface PendingClaimParts {
  readonly cache: Cache;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

interface StoredClaims {
  readonly claims: string;
  readonly expiresAt: number;
}

/** Sealed to the user: write access to the cache must not control what a sign-in sends, or for which user. */
export function createPendingClaims({ cache, keyring, clock }: PendingClaimParts): PendingClaims {
  function unseal(sealed: string, principal: string): StoredClaims | undefined {
    try {
      return JSON.parse(keyring.open(sealed, toSealContext(principal))) as StoredClaims;
    } catch (error) {
      // The key was removed, and the claims with it. Every other failure is tampering.
      if (error instanceof SealError && error.reason === 'unknown_key') return undefined;
      throw error;
    }
  }

  return {
    async put(principal, claims) {
      const text = normalizeClaims(claims);
      if (text === undefined) return;
      const stored: StoredClaims = { claims: text, expiresAt: clock.now() + LIFETIME_MS };
      await cache.set(principal, keyring.seal(JSON.stringify(stored), toSealContext(principal)), LIFETIME_MS);
    },
    async find(principal) {
      const sealed = await cache.get(principal);
      const stored = sealed === undefined ? undefined : unseal(sealed, principal);
      // The expiry is sealed: an attacker with write access to the cache could restore an old value.
      return stored && clock.now() < stored.expiresAt ? stored.claims : undefined;
    },
    async remove(principal) {
      await cache.delete(principal);
    },
  };
}

function toSealContext(principal: string): SealContext {
  return { tenant: '-', principal, server: '-', kind: 'pending-claims', field: 'claims' };
}
