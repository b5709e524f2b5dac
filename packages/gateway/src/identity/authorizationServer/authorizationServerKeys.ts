import { createSingleFlight, type Clock, type Random } from '@behalf/kernel';
import { createLocalJWKSet, type JWK } from 'jose';
import { isCurrent, type ChangeFeed } from '../../ports/index.ts';
import type { KeySet, SigningKeySource } from '../openid/keySource.ts';
import type { AuthorizationServerRecords } from './authorizationServerRecords.ts';
import {
  listAddedKeys,
  INITIAL_KEY_ID,
  KEY_RETENTION_MS,
  KEY_RECORD_KIND,
  selectActiveKeys,
  generateSigningKey,
  type TokenSigningKey,
} from './signingKeys.ts';

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

export interface AuthorizationServerKeyParts {
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
