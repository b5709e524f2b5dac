import { type Clock, type Random, createSingleFlight } from '@behalf/kernel';
import { type JWK, createLocalJWKSet, exportJWK, generateKeyPair } from 'jose';
import { type ChangeFeed, MAX_STALENESS_MS } from '../../ports/index.ts';
import { createReplicatedCache } from '../../replication/replicatedCache.ts';
import { generateSecret } from '../hashSecret.ts';
import type { KeySet, SigningKeySource } from '../openid/provider.ts';
import { CLOCK_TOLERANCE_MS } from '../openid/verifyJwt.ts';
import type { AuthorizationServerRecords } from './authorizationServerRecords.ts';

/**
 * The signing keys of Behalf's authorization server, and their rotation (ADR 33).
 *
 * Invariants:
 * - All replicas use the same keys. A new key signs only after every replica knows it (`MAX_STALENESS_MS`).
 * - A replaced key verifies until the last token that it signed has expired. A rotation with `shouldRevokeOlder` ends the older
 *   keys and their tokens at once.
 * - Rotations only add keys, so concurrent ones do not conflict. The last revoking key is never removed: it keeps the initial key,
 *   which is never removed either, from verifying again.
 */

/** The minimum time between two reads for an unknown key id. Any caller can send a token with one. */
const COOLDOWN_MS = 250;

/** The secrets of the authorization server. The object keeps its identity while the secrets stay the same. */
export interface AuthorizationServerSecrets {
  /** Private keys. The first one signs, all verify. */
  readonly jwks: readonly JWK[];
  /** Signs the cookies of an authorization request in progress. */
  readonly cookieKey: string;
}

export interface AuthorizationServerKeys {
  /** Creates the secrets if there are none. */
  secrets(): Promise<AuthorizationServerSecrets>;
  /** Filters the key ids whose tokens are still valid. */
  liveAmong(kids: readonly string[]): Promise<string[]>;
  /** The public keys, to verify Behalf's own tokens. */
  readonly keySource: SigningKeySource;
  close(): void;
}

interface AuthorizationServerKeyParts {
  readonly records: Pick<AuthorizationServerRecords, 'find' | 'add' | 'list'>;
  readonly changes: ChangeFeed;
  readonly random: Random;
  readonly clock: Clock;
}

/** The stored record of the initial key. */
interface InitialSecrets {
  readonly jwk: JWK;
  readonly cookieKey: string;
}

interface LoadedKeys {
  readonly keys: readonly TokenSigningKey[];
  readonly cookieKey: string;
  readonly readAt: number;
}

interface DerivedKeys {
  readonly secrets: AuthorizationServerSecrets;
  readonly set: KeySet;
  readonly kids: string;
}

const CACHE_KEY = 'keys';

export function createAuthorizationServerKeys(parts: AuthorizationServerKeyParts): AuthorizationServerKeys {
  const { records, changes, random, clock } = parts;
  const flights = createSingleFlight<LoadedKeys>();
  let derived: DerivedKeys | null = null;
  /** Increases when cached callers with a token of these keys must be verified again. */
  let generation = 0;
  const cache = createReplicatedCache<LoadedKeys>({
    ...{ changes, clock, maxEntries: 1 },
    affectedBy: ({ topic }) => (topic === 'signingKeys' ? 'all' : undefined),
  });
  const unsubscribe = changes.subscribe(({ topic }) => {
    if (topic === 'signingKeys') generation += 1;
  });

  async function loadOrCreateInitial(): Promise<InitialSecrets> {
    const found = await records.find<InitialSecrets>(KEY_RECORD_KIND, INITIAL_KEY_ID);
    if (found) return found.payload;
    const created = { jwk: await generateSigningKey(random), cookieKey: generateSecret(random) };
    const options = { ttlMs: KEY_RETENTION_MS };
    return (await records.add<InitialSecrets>(KEY_RECORD_KIND, INITIAL_KEY_ID, created, options)) ?? created;
  }

  async function load(): Promise<LoadedKeys> {
    const readAt = clock.now();
    const { jwk, cookieKey } = await loadOrCreateInitial();
    const keys = [{ jwk, createdAt: 0, shouldRevokeOlder: false }, ...(await listAddedKeys(records))];
    return { keys, cookieKey, readAt };
  }

  /** The active keys change with time, also while the loaded keys stay the same. */
  function deriveKeys({ keys, cookieKey }: LoadedKeys): DerivedKeys {
    const activeKeys = selectActiveKeys(keys, clock.now()).map(({ jwk }) => jwk);
    const kids = activeKeys.map(({ kid }) => kid).join(' ');
    if (derived?.kids === kids) return derived;
    if (derived) generation += 1;
    const find = createLocalJWKSet({ keys: activeKeys.map(publicHalf) });
    return (derived = { kids, secrets: { jwks: activeKeys, cookieKey }, set: { find } });
  }

  const currentKeys = async () => deriveKeys(await cache.read(CACHE_KEY, load));

  return {
    secrets: async () => (await currentKeys()).secrets,
    async liveAmong(kids) {
      const activeKids = new Set((await currentKeys()).secrets.jwks.map(({ kid }) => kid));
      return kids.filter((kid) => activeKids.has(kid));
    },
    keySource: {
      current: async () => (await currentKeys()).set,
      async newerThan(seen) {
        const cached = cache.get(CACHE_KEY);
        if (cached && clock.now() - cached.readAt < COOLDOWN_MS) return seen;
        // One read for all tokens with unknown keys. A notice starts a new one.
        const reload = () => cache.reload(CACHE_KEY, load);
        return deriveKeys(await flights.run([generation], reload, { detached: true })).set;
      },
      generation: () => generation,
    },
    close() {
      unsubscribe();
      cache.close();
    },
  };
}

function publicHalf({ d: _private, ...jwk }: JWK): JWK {
  return jwk;
}

export const TOKEN_ALGORITHM = 'ES256';
/** The lifetime of an access token. */
export const ACCESS_LIFETIME_MS = 10 * 60 * 1000;
/** How long a replaced key verifies. */
const VERIFICATION_MS = ACCESS_LIFETIME_MS + CLOCK_TOLERANCE_MS;
/** Ten years: a key lasts as long as the store. */
const KEY_RETENTION_MS = 10 * 365 * 24 * 60 * 60 * 1000;
/** Bounds what every replica has to read. */
const MAX_ACTIVE_KEYS = 10;

const KEY_RECORD_KIND = 'Keys';
/** The record of the initial key and the cookie key. */
const INITIAL_KEY_ID = 'current';
const KEY_FAMILY = 'signing';

interface TokenSigningKey {
  /** Private. */
  readonly jwk: JWK;
  readonly createdAt: number;
  /** Tokens of the older keys are invalid. */
  readonly shouldRevokeOlder: boolean;
}

/** The keys that verify now or will sign soon. The first one signs. */
function selectActiveKeys(all: readonly TokenSigningKey[], now: number): readonly TokenSigningKey[] {
  const signingStart = (key: TokenSigningKey) => signingStartOf(key, now);
  const sortedKeys = all.toSorted((a, b) => signingStart(a) - signingStart(b));
  const signingIndex = sortedKeys.findLastIndex((key) => signingStart(key) <= now);
  const revokingIndex = sortedKeys.findLastIndex((key, at) => key.shouldRevokeOlder && at <= signingIndex);
  const verifyingKeys = sortedKeys.filter((_key, at) => {
    if (at < revokingIndex) return false;
    const next = sortedKeys[at + 1];
    return at >= signingIndex || (next !== undefined && now < signingStart(next) + VERIFICATION_MS);
  });
  const signingKey = sortedKeys[signingIndex];
  return signingKey ? [signingKey, ...verifyingKeys.filter((key) => key !== signingKey)] : verifyingKeys;
}

/**
 * A key signs once every replica knows it; a revoking key signs at once. `createdAt` of a revoking key may be in the future of
 * this replica's clock. Without the minimum, the initial key would become active again until then.
 */
function signingStartOf({ createdAt, shouldRevokeOlder }: TokenSigningKey, now: number): number {
  return shouldRevokeOlder ? Math.min(createdAt, now) : createdAt + MAX_STALENESS_MS;
}

async function generateSigningKey(random: Random): Promise<JWK> {
  const { privateKey } = await generateKeyPair(TOKEN_ALGORITHM, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: random.id(), alg: TOKEN_ALGORITHM, use: 'sig' };
}

/** The keys of rotations, oldest first, without the initial key. */
async function listAddedKeys(records: Pick<AuthorizationServerRecords, 'list'>): Promise<TokenSigningKey[]> {
  return (await records.list<TokenSigningKey>(KEY_RECORD_KIND, KEY_FAMILY)).map(({ payload }) => payload);
}

interface KeyRotationParts {
  readonly records: Pick<AuthorizationServerRecords, 'add' | 'list' | 'remove'>;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly random: Random;
  readonly clock: Clock;
}

/** Adds a signing key and returns its id. Null: too many keys still verify. A revoking rotation is always possible. */
export async function rotateTokenSigningKey(
  parts: KeyRotationParts,
  shouldRevokeOlder: boolean,
): Promise<string | null> {
  const { records, changes, random, clock } = parts;
  const now = clock.now();
  const existing = await listAddedKeys(records);
  const activeKeys = selectActiveKeys(existing, now);
  if (activeKeys.length >= MAX_ACTIVE_KEYS && !shouldRevokeOlder) return null;
  const jwk = await generateSigningKey(random);
  const { kid = '' } = jwk;
  const key: TokenSigningKey = { jwk, createdAt: now, shouldRevokeOlder };
  await records.add(KEY_RECORD_KIND, kid, key, { ttlMs: KEY_RETENTION_MS, family: KEY_FAMILY });
  const obsolete = shouldRevokeOlder
    ? existing
    : existing.filter((old) => !old.shouldRevokeOlder && !activeKeys.includes(old));
  for (const { jwk: obsoleteJwk } of obsolete) await records.remove(KEY_RECORD_KIND, obsoleteJwk.kid ?? '');
  await changes.publish({ topic: 'signingKeys', id: 'keys' });
  return kid;
}
