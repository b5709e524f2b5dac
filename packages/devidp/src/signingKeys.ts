import { createPublicKey, generateKeyPair, sign, type JsonWebKey, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import type { Random } from '@behalf/kernel';

/** RS256, as the large providers sign: an HS256 token made from the public key is an attack that can be tried on it. */
export interface DevSigningKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

export interface DevKeyRing {
  getCurrent(): DevSigningKey;
  /** Whose signatures hold now. */
  listPublished(): readonly DevSigningKey[];
  /** As the provider takes them: the first one signs, all of them are published. */
  jwks(): { keys: (JsonWebKey & { kid: string; alg: 'RS256'; use: 'sig' })[] };
  /** A new key signs from now on. Without `keepOld` it is the only one that is published. */
  rotate(options: { keepOld: boolean }): Promise<DevSigningKey>;
}

/** How many keys a real provider publishes at most, roughly; the oldest goes. */
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

/** A key that nobody publishes, until a ring takes it up. */
export async function createSigningKey(random: Random): Promise<DevSigningKey> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return { kid: random.id(), privateKey, publicKey: createPublicKey(privateKey) };
}

/** As it will be sent: no claim is added and none is looked at. */
export function signJwt(
  { kid, privateKey }: DevSigningKey,
  typ: string,
  claims: Readonly<Record<string, unknown>>,
): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const data = `${encode({ alg: 'RS256', typ, kid })}.${encode(claims)}`;
  return `${data}.${sign('sha256', Buffer.from(data), privateKey).toString('base64url')}`;
}
