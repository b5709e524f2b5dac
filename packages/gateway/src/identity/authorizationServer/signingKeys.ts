import { type Clock, type Random, createSingleFlight } from '@behalf/kernel';
import { type JWK, createLocalJWKSet, exportJWK, generateKeyPair } from 'jose';
import { type ChangeFeed, MAX_STALENESS_MS, isCurrent } from '../../ports/index.ts';
import type { KeySet, SigningKeySource } from '../openid/provider.ts';
import { CLOCK_TOLERANCE_MS } from '../openid/verifyJwt.ts';
import type { AuthorizationServerRecords } from './authorizationServerRecords.ts';

/** Anybody can name a key that nobody has: the store is asked for others so often and no more. */
const COOLDOWN_MS = 250;

/** The secrets of the authorization server, the same in all processes. The same object while they are the same. */
export interface AuthorizationServerSecrets {
  /** Private. The first one signs, all verify. */
  readonly jwks: readonly JWK[];
  /** Signs the cookies of a sign-in under way. */
  readonly cookieKey: string;
}

export interface AuthorizationServerKeys {
  /** Made by whoever asks first. */
  secrets(): Promise<AuthorizationServerSecrets>;
  /** Those of these keys whose tokens still count. */
  liveAmong(kids: readonly string[]): Promise<string[]>;
  /** The public halves, to judge our own tokens by. */
  readonly keySource: SigningKeySource;
  close(): void;
}

interface AuthorizationServerKeyParts {
  readonly records: Pick<AuthorizationServerRecords, 'find' | 'add' | 'list'>;
  readonly changes: ChangeFeed;
  readonly random: Random;
  readonly clock: Clock;
}

/** As it lies in the store. */
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

export function createAuthorizationServerKeys({
  records,
  changes,
  random,
  clock,
}: AuthorizationServerKeyParts): AuthorizationServerKeys {
  const flights = createSingleFlight<LoadedKeys>();
  let loaded: LoadedKeys | null = null;
  let derived: DerivedKeys | null = null;
  let generation = 0;
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;

  const close = changes.subscribe(({ topic }) => {
    if (topic !== 'signingKeys') return;
    epoch += 1;
    loaded = null;
    // Whoever was known by a token of these keys is looked at again.
    generation += 1;
  });

  async function loadOrCreateInitial(): Promise<InitialSecrets> {
    const found = await records.find<InitialSecrets>(KEY_RECORD_KIND, INITIAL_KEY_ID);
    if (found) return found.payload;
    const cookieKey = Buffer.from(random.bytes(32)).toString('base64url');
    const created = { jwk: await generateSigningKey(random), cookieKey };
    return (
      (await records.add<InitialSecrets>(KEY_RECORD_KIND, INITIAL_KEY_ID, created, {
        ttlMs: KEY_RETENTION_MS,
      })) ?? created
    );
  }

  async function load(): Promise<LoadedKeys> {
    const startEpoch = epoch;
    const readAt = clock.now();
    const { jwk, cookieKey } = await loadOrCreateInitial();
    const keys = [{ jwk, createdAt: 0, shouldRevokeOlder: false }, ...(await listAddedKeys(records))];
    const current = { keys, cookieKey, readAt };
    if (startEpoch === epoch) loaded = current;
    return current;
  }

  const reload = () => flights.run([epoch], load, { detached: true });
  const currentKeys = async () =>
    loaded && isCurrent(changes, clock.now(), loaded.readAt) ? loaded : reload();

  /** Time alone changes which of them sign and verify. */
  function deriveKeys({ keys, cookieKey }: LoadedKeys): DerivedKeys {
    const activeKeys = selectActiveKeys(keys, clock.now()).map(({ jwk }) => jwk);
    const kids = activeKeys.map(({ kid }) => kid).join(' ');
    if (derived?.kids === kids) return derived;
    if (derived) generation += 1;
    const find = createLocalJWKSet({ keys: activeKeys.map(publicHalf) });
    return (derived = { kids, secrets: { jwks: activeKeys, cookieKey }, set: { find } });
  }

  return {
    secrets: async () => deriveKeys(await currentKeys()).secrets,
    async liveAmong(kids) {
      const activeKids = new Set(deriveKeys(await currentKeys()).secrets.jwks.map(({ kid }) => kid));
      return kids.filter((kid) => activeKids.has(kid));
    },
    keySource: {
      current: async () => deriveKeys(await currentKeys()).set,
      async newerThan(seen) {
        const isRecentlyRead = loaded && clock.now() - loaded.readAt < COOLDOWN_MS;
        return isRecentlyRead ? seen : deriveKeys(await reload()).set;
      },
      generation: () => generation,
    },
    close,
  };
}

function publicHalf({ d: _private, ...jwk }: JWK): JWK {
  return jwk;
}

/** What our tokens are signed with. */
export const TOKEN_ALGORITHM = 'ES256';
/** How long a token lives that a key signed: so long it is verified by that key. */
export const ACCESS_LIFETIME_MS = 10 * 60 * 1000;
const VERIFICATION_MS = ACCESS_LIFETIME_MS + CLOCK_TOLERANCE_MS;
/** Ten years: the keys are the store's, and go with it. */
const KEY_RETENTION_MS = 10 * 365 * 24 * 60 * 60 * 1000;
/** Whoever rotates without end does not make everybody read without end. */
const MAX_ACTIVE_KEYS = 10;

const KEY_RECORD_KIND = 'Keys';
/** The first of them, and what is made with it. */
const INITIAL_KEY_ID = 'current';
const KEY_FAMILY = 'signing';

interface TokenSigningKey {
  /** Private. */
  readonly jwk: JWK;
  readonly createdAt: number;
  /** What was signed by the ones before it counts no more. */
  readonly shouldRevokeOlder: boolean;
}

/** The keys that verify now, or will sign in a moment. The first one signs. */
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
 * When every process knows it; at once where the old ones must not count any more. Whoever made it may have a clock that is ahead of ours:
 * until we caught up, the first of all keys would be back.
 */
function signingStartOf({ createdAt, shouldRevokeOlder }: TokenSigningKey, now: number): number {
  return shouldRevokeOlder ? Math.min(createdAt, now) : createdAt + MAX_STALENESS_MS;
}

async function generateSigningKey(random: Random): Promise<JWK> {
  const { privateKey } = await generateKeyPair(TOKEN_ALGORITHM, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: random.id(), alg: TOKEN_ALGORITHM, use: 'sig' };
}

/** All that were added, the oldest first; the first of all is not among them. */
async function listAddedKeys(records: Pick<AuthorizationServerRecords, 'list'>): Promise<TokenSigningKey[]> {
  return (await records.list<TokenSigningKey>(KEY_RECORD_KIND, KEY_FAMILY)).map(({ payload }) => payload);
}

interface KeyRotationParts {
  readonly records: Pick<AuthorizationServerRecords, 'add' | 'list' | 'remove'>;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly random: Random;
  readonly clock: Clock;
}

/**
 * Another key, which signs everywhere as soon as everybody knows it. Keys are only ever added, so that two who rotate at once are in
 * nobody's way. Its id; null: there are too many that still verify.
 */
export async function rotateTokenSigningKey(
  parts: KeyRotationParts,
  shouldRevokeOlder: boolean,
): Promise<string | null> {
  const { records, changes, random, clock } = parts;
  const now = clock.now();
  const existing = await listAddedKeys(records);
  const activeKeys = selectActiveKeys(existing, now);
  // In an emergency the last word counts, however many there are.
  if (activeKeys.length >= MAX_ACTIVE_KEYS && !shouldRevokeOlder) return null;
  const jwk = await generateSigningKey(random);
  const { kid = '' } = jwk;
  await records.add<TokenSigningKey>(
    KEY_RECORD_KIND,
    kid,
    { jwk, createdAt: now, shouldRevokeOlder },
    { ttlMs: KEY_RETENTION_MS, family: KEY_FAMILY },
  );
  // One that ended others stays when it is over: it is what keeps the first of all, which is never removed, from verifying again.
  const obsolete = shouldRevokeOlder
    ? existing
    : existing.filter((key) => !key.shouldRevokeOlder && !activeKeys.includes(key));
  for (const { jwk: obsoleteJwk } of obsolete) await records.remove(KEY_RECORD_KIND, obsoleteJwk.kid ?? '');
  await changes.publish({ topic: 'signingKeys', id: 'keys' });
  return kid;
}
