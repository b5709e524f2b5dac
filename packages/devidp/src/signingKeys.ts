import { createPublicKey, generateKeyPair, sign, type JsonWebKey, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { Random } from '@behalf/kernel';

/** RS256, as large providers use, so that tests can try the attack with an HS256 token signed with the public key. */
export interface DevSigningKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

export interface DevKeyRing {
  getCurrent(): DevSigningKey;
  /** The published keys. */
  listPublished(): readonly DevSigningKey[];
  /** All published keys for the library; the first one signs. */
  jwks(): { keys: (JsonWebKey & { kid: string; alg: 'RS256'; use: 'sig' })[] };
  /** Adds a new signing key. Without `keepOld` it replaces all others. */
  rotate(options: { keepOld: boolean }): Promise<DevSigningKey>;
}

/** Roughly as many keys as a real provider publishes. The oldest is dropped. */
const MAX_KEYS = 5;

export async function createDevKeyRing(random: Random): Promise<DevKeyRing> {
  let keys: readonly [DevSigningKey, ...DevSigningKey[]] = [await createSigningKey(random)];
  return {
    getCurrent: () => keys[0],
    listPublished: () => keys,
    jwks: () => ({
      keys: keys.map(({ kid, privateKey }) => ({
        ...privateKey.export({ format: 'jwk' }),
        kid,
        alg: 'RS256',
        use: 'sig',
      })),
    }),
    async rotate({ keepOld }) {
      const newKey = await createSigningKey(random);
      keys = [newKey, ...(keepOld ? keys.slice(0, MAX_KEYS - 1) : [])];
      return newKey;
    },
  };
}

/** Creates a key that is not published. */
export async function createSigningKey(random: Random): Promise<DevSigningKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return { kid: random.id(), privateKey, publicKey: createPublicKey(privateKey) };
}

/** Signs without adding or checking any claim. */
export function signJwt(
  { kid, privateKey }: DevSigningKey,
  typ: string,
  claims: Readonly<Record<string, unknown>>,
): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const data = `${encode({ alg: 'RS256', typ, kid })}.${encode(claims)}`;
  return `${data}.${sign('sha256', Buffer.from(data), privateKey).toString('base64url')}`;
}
