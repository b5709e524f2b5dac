import { SealError, type Clock, type Keyring, type SealContext } from '@behalf/kernel';
import type { Cache } from '../../ports/index.ts';
import { normalizeClaims } from '../oauth/claims.ts';

/** For how long somebody who was sent to sign in may take to go there. */
const LIFETIME_MS = 10 * 60_000;

/** What the provider wants proven at a user's next sign-in. Users are named by `principalKey`. */
export interface PendingClaims {
  /** Replaces what was kept. What is no JSON object, or a long one, is not kept: others wrote it. */
  put(principal: string, claims: string): Promise<void>;
  find(principal: string): Promise<string | undefined>;
  /** They were asked for at a sign-in that is over, whatever came of it. */
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

/** Sealed to their user: who can write the cache cannot have the gateway send what they like, nor to whom they like. */
export function createPendingClaims({ cache, keyring, clock }: PendingClaimParts): PendingClaims {
  function unseal(sealed: string, principal: string): StoredClaims | undefined {
    try {
      return JSON.parse(keyring.open(sealed, toSealContext(principal))) as StoredClaims;
    } catch (error) {
      // Under a key that is gone they are gone too. Whatever else does not open was tampered with.
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
      // It says itself how old it is: an old one can be put back by who can write the cache.
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
