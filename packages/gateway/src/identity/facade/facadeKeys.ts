import { createSingleFlight, type Clock, type Random } from '@behalf/kernel';
import { createLocalJWKSet, type JWK } from 'jose';
import { isCurrent, type ChangeFeed } from '../../ports/index.ts';
import type { KeySet, KeySource } from '../openid/keySource.ts';
import type { FacadeRecords } from './facadeRecords.ts';
import { addedKeys, FIRST, KEPT_MS, KEYS, liveKeys, makeSigningKey, type SigningKey } from './signingKeys.ts';

/** Anybody can name a key that nobody has: the store is asked for others so often and no more. */
const COOLDOWN_MS = 250;

/** The secrets of the authorization server, the same in all processes. The same object while they are the same. */
export interface FacadeSecrets {
  /** Private. The first one signs, all verify. */
  readonly jwks: readonly JWK[];
  /** Signs the cookies of a sign-in under way. */
  readonly cookieKey: string;
}

export interface FacadeKeys {
  /** Made by whoever asks first. */
  secrets(): Promise<FacadeSecrets>;
  /** Those of these keys whose tokens still count. */
  liveAmong(kids: readonly string[]): Promise<string[]>;
  /** The public halves, to judge our own tokens by. */
  readonly source: KeySource;
  close(): void;
}

export interface FacadeKeyParts {
  readonly records: Pick<FacadeRecords, 'find' | 'add' | 'list'>;
  readonly changes: ChangeFeed;
  readonly random: Random;
  readonly clock: Clock;
}

/** As it lies in the store. */
interface First {
  readonly jwk: JWK;
  readonly cookieKey: string;
}

interface Held {
  readonly keys: readonly SigningKey[];
  readonly cookieKey: string;
  readonly readAt: number;
}

interface Made {
  readonly secrets: FacadeSecrets;
  readonly set: KeySet;
  readonly name: string;
}

export function createFacadeKeys({ records, changes, random, clock }: FacadeKeyParts): FacadeKeys {
  const flights = createSingleFlight<Held>();
  let held: Held | null = null;
  let made: Made | null = null;
  let generation = 0;
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;

  const close = changes.subscribe(({ topic }) => {
    if (topic !== 'signingKeys') return;
    epoch += 1;
    held = null;
    // Whoever was known by a token of these keys is looked at again.
    generation += 1;
  });

  async function first(): Promise<First> {
    const found = await records.find<First>(KEYS, FIRST);
    if (found) return found.payload;
    const cookieKey = Buffer.from(random.bytes(32)).toString('base64url');
    const own = { jwk: await makeSigningKey(random), cookieKey };
    return (await records.add<First>(KEYS, FIRST, own, { ttlMs: KEPT_MS })) ?? own;
  }

  async function read(): Promise<Held> {
    const begun = epoch;
    const readAt = clock.now();
    const { jwk, cookieKey } = await first();
    const keys = [{ jwk, madeAt: 0, isAlone: false }, ...(await addedKeys(records))];
    const now = { keys, cookieKey, readAt };
    if (begun === epoch) held = now;
    return now;
  }

  const readNow = () => flights.run([epoch], read, { detached: true });
  const known = async () => (held && isCurrent(changes, clock.now(), held.readAt) ? held : readNow());

  /** Time alone changes which of them sign and verify. */
  function madeOf({ keys, cookieKey }: Held): Made {
    const live = liveKeys(keys, clock.now()).map(({ jwk }) => jwk);
    const name = live.map(({ kid }) => kid).join(' ');
    if (made?.name === name) return made;
    if (made) generation += 1;
    const find = createLocalJWKSet({ keys: live.map(publicHalf) });
    return (made = { name, secrets: { jwks: live, cookieKey }, set: { find } });
  }

  return {
    secrets: async () => madeOf(await known()).secrets,
    async liveAmong(kids) {
      const live = new Set(madeOf(await known()).secrets.jwks.map(({ kid }) => kid));
      return kids.filter((kid) => live.has(kid));
    },
    source: {
      current: async () => madeOf(await known()).set,
      async newerThan(seen) {
        const isJustRead = held && clock.now() - held.readAt < COOLDOWN_MS;
        return isJustRead ? seen : madeOf(await readNow()).set;
      },
      generation: () => generation,
    },
    close,
  };
}

function publicHalf({ d: _private, ...jwk }: JWK): JWK {
  return jwk;
}
