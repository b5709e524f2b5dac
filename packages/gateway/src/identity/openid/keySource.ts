import { createSingleFlight, type Clock, type Fetch } from '@behalf/kernel';
import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/parts.ts';
import { fetchJsonDocument } from './fetchDocument.ts';
import type { ProviderMetadataSource } from './providerMetadata.ts';

/** A key that was taken back is good for nobody after this time, whether the provider answers or not. */
const MAX_AGE_MS = 10 * 60 * 1000;
/** From here on they are fetched again beside the calls, so that a short outage of the provider stays unseen. */
const REFRESH_AFTER_MS = 5 * 60 * 1000;
/** Anybody can name a key that nobody has: the provider is not asked for more than this lets through. */
const COOLDOWN_MS = 5_000;
/** While there are no keys at all. */
const RETRY_MS = 1_000;

/** The same object for as long as the provider publishes the same keys. */
export interface KeySet {
  readonly find: LocalJWKSet;
}

/** The keys with which the issuer signs. */
export interface SigningKeySource {
  /** At most ten minutes old. Rejects with OPENID_UNAVAILABLE when there are none so young. */
  current(): Promise<KeySet>;
  /** After a token named a key that `seen` does not have. `seen` itself when the provider has no other now. */
  newerThan(seen: KeySet): Promise<KeySet>;
  /** Moves when the keys change. */
  generation(): number;
}

export interface SigningKeySourceParts {
  readonly metadata: Pick<ProviderMetadataSource, 'current'>;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: Log;
}

interface FetchedKeys {
  readonly set: KeySet;
  readonly fingerprint: string;
  readonly fetchedAt: number;
}

export function createSigningKeySource({
  metadata,
  fetch,
  clock,
  log,
}: SigningKeySourceParts): SigningKeySource {
  const flights = createSingleFlight<KeySet>();
  let fetched: FetchedKeys | null = null;
  let generation = 0;
  let attemptedAt = -Infinity;
  let hasFailed = false;

  async function read(): Promise<KeySet> {
    const fetchedAt = clock.now();
    attemptedAt = fetchedAt;
    try {
      const { jwksUri } = await metadata.current();
      const document = (await fetchJsonDocument({ fetch, clock }, jwksUri)) as unknown as JSONWebKeySet;
      const find = createLocalJWKSet(document);
      const fingerprint = fingerprintOf(document);
      const isSame = fetched?.fingerprint === fingerprint;
      if (!isSame) generation += 1;
      fetched = { set: isSame && fetched ? fetched.set : { find }, fingerprint, fetchedAt };
      hasFailed = false;
      return fetched.set;
    } catch (error) {
      hasFailed = true;
      log('openid_jwks_failed', { reason: error instanceof Error ? error.message : 'unknown' });
      throw unavailable();
    }
  }

  const refresh = () => flights.run([], read, { detached: true });
  /** Whether a fetch now would be one too many; joining one under way never is. */
  const isTooSoon = (ms: number) => flights.size === 0 && clock.now() - attemptedAt < ms;

  return {
    async current() {
      const age = fetched ? clock.now() - fetched.fetchedAt : Infinity;
      if (fetched && age < MAX_AGE_MS) {
        if (age >= REFRESH_AFTER_MS && !isTooSoon(COOLDOWN_MS)) refresh().catch(() => undefined);
        return fetched.set;
      }
      if (isTooSoon(RETRY_MS)) throw unavailable();
      return refresh();
    },
    async newerThan(seen) {
      if (fetched && fetched.set !== seen) return fetched.set;
      if (!isTooSoon(COOLDOWN_MS)) return refresh();
      if (hasFailed) throw unavailable();
      return seen;
    },
    generation: () => generation,
  };
}

function unavailable(): GatewayError {
  return new GatewayError('OPENID_UNAVAILABLE');
}

/** The order of the keys says nothing. */
function fingerprintOf({ keys }: JSONWebKeySet): string {
  return JSON.stringify(keys.map((key) => JSON.stringify(key)).sort());
}
