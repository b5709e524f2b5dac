import type { Clock, Random } from '@behalf/kernel';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { STALENESS_MS, type ChangeFeed } from '../../ports/index.ts';
import { CLOCK_TOLERANCE_MS } from '../openid/verifySigned.ts';
import type { FacadeRecords } from './facadeRecords.ts';

/** What our tokens are signed with. */
export const FACADE_ALGORITHM = 'ES256';
/** How long a token lives that a key signed: so long it is verified by that key. */
export const ACCESS_LIFETIME_MS = 10 * 60 * 1000;
const VERIFIES_MS = ACCESS_LIFETIME_MS + CLOCK_TOLERANCE_MS;
/** Ten years: the keys are the store's, and go with it. */
export const KEPT_MS = 10 * 365 * 24 * 60 * 60 * 1000;
/** Whoever rotates without end does not make everybody read without end. */
const MOST_KEYS = 10;

export const KEYS = 'Keys';
/** The first of them, and what is made with it. */
export const FIRST = 'current';
const FAMILY = 'signing';

export interface SigningKey {
  /** Private. */
  readonly jwk: JWK;
  readonly madeAt: number;
  /** What was signed by the ones before it counts no more. */
  readonly isAlone: boolean;
}

/** The keys that verify now, or will sign in a moment. The first one signs. */
export function liveKeys(all: readonly SigningKey[], now: number): readonly SigningKey[] {
  const from = (key: SigningKey) => signsFrom(key, now);
  const inOrder = all.toSorted((a, b) => from(a) - from(b));
  const signing = inOrder.findLastIndex((key) => from(key) <= now);
  const alone = inOrder.findLastIndex((key, at) => key.isAlone && at <= signing);
  const verifying = inOrder.filter((_key, at) => {
    if (at < alone) return false;
    const next = inOrder[at + 1];
    return at >= signing || (next !== undefined && now < from(next) + VERIFIES_MS);
  });
  const first = inOrder[signing];
  return first ? [first, ...verifying.filter((key) => key !== first)] : verifying;
}

/**
 * When every process knows it; at once where the old ones must not count any more. Whoever made it may have a clock that is ahead of ours:
 * until we caught up, the first of all keys would be back.
 */
function signsFrom({ madeAt, isAlone }: SigningKey, now: number): number {
  return isAlone ? Math.min(madeAt, now) : madeAt + STALENESS_MS;
}

export async function makeSigningKey(random: Random): Promise<JWK> {
  const { privateKey } = await generateKeyPair(FACADE_ALGORITHM, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: random.id(), alg: FACADE_ALGORITHM, use: 'sig' };
}

/** All that were added, the oldest first; the first of all is not among them. */
export async function addedKeys(records: Pick<FacadeRecords, 'list'>): Promise<SigningKey[]> {
  return (await records.list<SigningKey>(KEYS, FAMILY)).map(({ payload }) => payload);
}

export interface RotationParts {
  readonly records: Pick<FacadeRecords, 'add' | 'list' | 'remove'>;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly random: Random;
  readonly clock: Clock;
}

/**
 * Another key, which signs everywhere as soon as everybody knows it. Keys are only ever added, so that two who rotate at once are in
 * nobody's way. Its id; null: there are too many that still verify.
 */
export async function rotateFacadeKey(parts: RotationParts, isAlone: boolean): Promise<string | null> {
  const { records, changes, random, clock } = parts;
  const now = clock.now();
  const before = await addedKeys(records);
  const live = liveKeys(before, now);
  // In an emergency the last word counts, however many there are.
  if (live.length >= MOST_KEYS && !isAlone) return null;
  const jwk = await makeSigningKey(random);
  const { kid = '' } = jwk;
  await records.add<SigningKey>(KEYS, kid, { jwk, madeAt: now, isAlone }, { ttlMs: KEPT_MS, family: FAMILY });
  // One that ended others stays when it is over: it is what keeps the first of all, which is never removed, from verifying again.
  const over = isAlone ? before : before.filter((key) => !key.isAlone && !live.includes(key));
  for (const { jwk: old } of over) await records.remove(KEYS, old.kid ?? '');
  await changes.publish({ topic: 'signingKeys', id: 'keys' });
  return kid;
}
