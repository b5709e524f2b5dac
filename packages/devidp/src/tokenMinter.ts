import { createHmac, sign } from 'node:crypto';
import type { Clock, Random } from '@behalf/kernel';
import { toAppClaims } from './providerConfiguration.ts';
import {
  type DevClient,
  type DevUser,
  findUser,
  toAuthorityClaims,
  toEntraClaims,
  toProfileClaims,
} from './directory.ts';
import { createSigningKey, type DevKeyRing, type DevSigningKey } from './signingKeys.ts';

export interface MintOptions {
  /** ID of the user whose claims it contains. Default: the first user. */
  user?: string;
  /** ID of the client. Default: the first client. */
  client?: string;
  /** Overrides `sub`. */
  subject?: string;
  /** Overrides claims; `undefined` removes one. */
  claims?: Readonly<Record<string, unknown>>;
  /** Overrides `alg`, `typ` and `kid`; `undefined` removes one. The header may be inconsistent with the signature. */
  header?: Readonly<Record<string, unknown>>;
  /** The signing key. Default: the current one. */
  key?: DevSigningKey;
  /** A negative value creates an expired token. */
  lifetimeSeconds?: number;
}

/** Creates valid and invalid tokens without a sign-in. For tests: it can impersonate every user. */
export interface TokenMinter {
  /** An access token like that of a sign-in. */
  readonly mint: (options?: MintOptions) => string;
  /** An access token like that of the client credentials grant. */
  readonly mintAppOnly: (options?: MintOptions) => string;
  /** A valid ID token, which no API may accept as a credential. */
  readonly mintIdToken: (options?: MintOptions) => string;
  /** `alg: none` without signature. */
  readonly mintUnsigned: (options?: MintOptions) => string;
  /** HS256 with the public key's text as secret. A verifier that trusts the token's `alg` accepts it. */
  readonly mintWithPublicKeyAsSecret: (options?: MintOptions & { text?: 'pem' | 'jwk' }) => string;
  /** Creates a key that is never published. */
  readonly createUnknownKey: () => Promise<DevSigningKey>;
}

interface TokenMinterParts {
  issuer: string;
  audience: string;
  users: readonly DevUser[];
  clients: readonly DevClient[];
  scopes: readonly string[];
  lifetimeSeconds: number;
  keys: DevKeyRing;
  clock: Clock;
  random: Random;
  /** For a tenant in the form of Entra, whose access tokens use different claims. */
  tenant?: string;
}

type Claims = Record<string, unknown>;
type Signer = (data: string) => Buffer;

export function createTokenMinter(parts: TokenMinterParts): TokenMinter {
  const { issuer, audience, users, clients, scopes, keys, clock, random } = parts;

  const requireUser = ({ user }: MintOptions): DevUser => {
    const match = user === undefined ? users[0] : findUser(users, user);
    if (!match) throw new Error(`There is no user ${user ?? ''} to mint a token for.`);
    return match;
  };
  const requireClient = ({ client }: MintOptions): DevClient => {
    const match = client === undefined ? clients[0] : clients.find(({ id }) => id === client);
    if (!match) throw new Error(`There is no client ${client ?? ''} to mint a token for.`);
    return match;
  };
  const createTimeClaims = ({ lifetimeSeconds = parts.lifetimeSeconds }: MintOptions): Claims => {
    const now = Math.floor(clock.now() / 1000);
    // `iat` is always before `exp`, also for an expired token.
    return { iat: Math.min(now, now + lifetimeSeconds - 1), exp: now + lifetimeSeconds };
  };

  const createAccessClaims = (options: MintOptions): Claims => {
    const user = requireUser(options);
    const { id } = requireClient(options);
    const scopeText = scopes.join(' ');
    return {
      sub: user.id,
      ...{ azp: id, client_id: id, jti: random.id(), aud: audience },
      ...(parts.tenant === undefined
        ? { scope: scopeText }
        : { scp: scopeText, tid: parts.tenant, ver: '2.0', ...toEntraClaims(user) }),
      ...toAuthorityClaims(user),
    };
  };
  const createAppOnlyClaims = (options: MintOptions): Claims => {
    const client = requireClient(options);
    const { id } = client;
    return { sub: id, azp: id, client_id: id, jti: random.id(), aud: audience, ...toAppClaims(client) };
  };
  const createIdClaims = (options: MintOptions): Claims => {
    const user = requireUser(options);
    const hashes = { nonce: random.id(), at_hash: random.id() };
    return {
      sub: user.id,
      aud: requireClient(options).id,
      ...hashes,
      ...toProfileClaims(user),
      ...toAuthorityClaims(user),
    };
  };

  const encodeToken = (claims: Claims, header: Claims, options: MintOptions, signer: Signer): string => {
    const subject = options.subject === undefined ? {} : { sub: options.subject };
    const payload = { iss: issuer, ...createTimeClaims(options), ...claims, ...subject, ...options.claims };
    const data = `${encode({ ...header, ...options.header })}.${encode(payload)}`;
    return `${data}.${signer(data).toString('base64url')}`;
  };
  const signToken = (claims: Claims, typ: string, options: MintOptions): string => {
    const { kid, privateKey } = options.key ?? keys.getCurrent();
    // Encoded by hand, because libraries reject the headers that tests need.
    return encodeToken(claims, { alg: 'RS256', typ, kid }, options, (data) =>
      sign('sha256', Buffer.from(data), privateKey),
    );
  };

  return {
    mint: (options = {}) => signToken(createAccessClaims(options), 'at+jwt', options),
    mintAppOnly: (options = {}) => signToken(createAppOnlyClaims(options), 'at+jwt', options),
    mintIdToken: (options = {}) => signToken(createIdClaims(options), 'JWT', options),
    mintUnsigned: (options = {}) =>
      encodeToken(createAccessClaims(options), { alg: 'none', typ: 'at+jwt' }, options, () =>
        Buffer.alloc(0),
      ),
    mintWithPublicKeyAsSecret: ({ text = 'pem', ...options } = {}) => {
      const { kid, publicKey } = options.key ?? keys.getCurrent();
      const secret =
        text === 'pem'
          ? publicKey.export({ format: 'pem', type: 'spki' })
          : JSON.stringify(publicKey.export({ format: 'jwk' }));
      return encodeToken(createAccessClaims(options), { alg: 'HS256', typ: 'at+jwt', kid }, options, (data) =>
        createHmac('sha256', secret).update(data).digest(),
      );
    },
    createUnknownKey: () => createSigningKey(random),
  };
}

function encode(part: Claims): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
