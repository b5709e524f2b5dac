import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { createSingleFlight, type Clock, type Keyring } from '@behalf/kernel';
import { toOAuthClientSealContext, oauthClientId, type OAuthClientStore } from '../../../ports/index.ts';

/** Stands among the clients that were registered: no server, tenant or issuer has such a name. */
const GATEWAY_CLIENT_KEY = { tenant: '-', serverId: '@gateway', issuer: '-', redirectUri: '-' } as const;

export interface DocumentSigningKey {
  readonly key: KeyObject;
  readonly kid: string;
}

export interface DocumentKey {
  /** With which we prove that we are who our document speaks of. */
  current(): Promise<DocumentSigningKey>;
  /** What authorization servers check it by. */
  jwks(): Promise<{ readonly keys: readonly Readonly<Record<string, unknown>>[] }>;
}

export interface DocumentKeyParts {
  readonly clients: Pick<OAuthClientStore, 'find' | 'insert'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
}

/**
 * One ES256 key for all replicas, made once and kept sealed in the store: of two replicas that make one at once, the first counts.
 * Derived from CREDS_KEY it would change with every rotation of that, and while replicas restart one after the other each would
 * sign with a key that the others do not publish. In the store it is sealed anew with everything else, and stays the same.
 */
export function createDocumentKey({ clients, keyring, clock }: DocumentKeyParts): DocumentKey {
  const flights = createSingleFlight<DocumentSigningKey>();
  let loadedKey: DocumentSigningKey | undefined;

  async function loadOrCreate(): Promise<DocumentSigningKey> {
    const stored =
      (await clients.find(GATEWAY_CLIENT_KEY)) ?? (await clients.insert(await createCandidate()));
    const pem = keyring.open(stored.sealed, toOAuthClientSealContext(stored));
    loadedKey = { key: createPrivateKey(pem), kid: stored.clientId };
    return loadedKey;
  }

  async function createCandidate() {
    const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
    const record = { ...GATEWAY_CLIENT_KEY, clientId: thumbprint(privateKey) };
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    return {
      ...record,
      id: oauthClientId(record),
      sealed: keyring.seal(pem, toOAuthClientSealContext(record)),
      createdAt: clock.now(),
      expiresAt: null,
    };
  }

  const current = async () => loadedKey ?? flights.run([], loadOrCreate, { detached: true });
  return {
    current,
    async jwks() {
      const { key, kid } = await current();
      return { keys: [{ ...publicJwk(key), kid, use: 'sig', alg: 'ES256' }] };
    },
  };
}

function publicJwk(key: KeyObject): Readonly<Record<string, unknown>> {
  const { kty, crv, x, y } = createPublicKey(key).export({ format: 'jwk' });
  return { kty, crv, x, y };
}

/** RFC 7638: the members in the order of their names. */
function thumbprint(key: KeyObject): string {
  const { crv, kty, x, y } = publicJwk(key);
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}
