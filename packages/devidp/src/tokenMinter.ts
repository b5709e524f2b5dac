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
  /** Id of the user whose claims it carries; the first user if absent. */
  user?: string;
  /** Id of the client it was issued to; the first client if absent. */
  client?: string;
  /** `sub`, where it should not be that user's or client's. */
  subject?: string;
  /** Over the usual claims; `undefined` leaves one out. */
  claims?: Readonly<Record<string, unknown>>;
  /** Over `alg`, `typ` and `kid`; `undefined` leaves one out. The header may lie about how the token is signed. */
  header?: Readonly<Record<string, unknown>>;
  /** Signs it and gives the `kid`; the current one if absent. */
  key?: DevSigningKey;
  /** Negative: it has expired. */
  lifetimeSeconds?: number;
}

/** Tokens without a login, right ones and wrong ones. For tests: whoever holds this is everybody. */
export interface TokenMinter {
  /** An access token as a login gives it. */
  readonly mint: (options?: MintOptions) => string;
  /** An access token as the client credentials grant gives it. */
  readonly mintAppOnly: (options?: MintOptions) => string;
  /** An ID token: genuine, and no credential for an API. */
  readonly mintIdToken: (options?: MintOptions) => string;
  /** `alg: none` with no signature. */
  readonly mintUnsigned: (options?: MintOptions) => string;
  /** HS256, with the public key's text as the secret: right for a verifier that lets the token choose the algorithm. */
  readonly mintWithPublicKeyAsSecret: (options?: MintOptions & { text?: 'pem' | 'jwk' }) => string;
  /** A key that is never published. */
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
  /** Of a directory with addresses as Entra has them: its access tokens say some things in other words. */
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
    // Issued before it ends, also when it has ended already.
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
    // By hand: a library would refuse the headers that are worth trying.
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
