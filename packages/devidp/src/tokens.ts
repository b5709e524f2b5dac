import { createHmac, sign } from 'node:crypto';
import type { Clock, Random } from '@behalf/kernel';
import { appClaims } from './accessTokens.ts';
import type { DevClient } from './clients.ts';
import { createSigningKey, type KeyRing, type SigningKey } from './signingKeys.ts';
import { authorityClaims, entraClaims, findUser, personClaims, type DevUser } from './users.ts';

export interface TokenOptions {
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
  key?: SigningKey;
  /** Negative: it has expired. */
  lifetimeSeconds?: number;
}

/** Tokens without a login, right ones and wrong ones. For tests: whoever holds this is everybody. */
export interface Tokens {
  /** An access token as a login gives it. */
  readonly mint: (options?: TokenOptions) => string;
  /** An access token as the client credentials grant gives it. */
  readonly mintAppOnly: (options?: TokenOptions) => string;
  /** An ID token: genuine, and no credential for an API. */
  readonly mintIdToken: (options?: TokenOptions) => string;
  /** `alg: none` with no signature. */
  readonly mintUnsigned: (options?: TokenOptions) => string;
  /** HS256, with the public key's text as the secret: right for a verifier that lets the token choose the algorithm. */
  readonly mintWithPublicKeyAsSecret: (options?: TokenOptions & { text?: 'pem' | 'jwk' }) => string;
  /** A key that is never published. */
  readonly unknownKey: () => Promise<SigningKey>;
}

export interface TokenParts {
  issuer: string;
  audience: string;
  users: readonly DevUser[];
  clients: readonly DevClient[];
  scopes: readonly string[];
  lifetimeSeconds: number;
  keys: KeyRing;
  clock: Clock;
  random: Random;
  /** Of a directory with addresses as Entra has them: its access tokens say some things in other words. */
  tenant?: string;
}

type Claims = Record<string, unknown>;
type Signer = (data: string) => Buffer;

export function createTokens(parts: TokenParts): Tokens {
  const { issuer, audience, users, clients, scopes, keys, clock, random } = parts;

  const userOf = ({ user }: TokenOptions): DevUser => {
    const found = user === undefined ? users[0] : findUser(users, user);
    if (!found) throw new Error(`There is no user ${user ?? ''} to mint a token for.`);
    return found;
  };
  const clientOf = ({ client }: TokenOptions): DevClient => {
    const found = client === undefined ? clients[0] : clients.find(({ id }) => id === client);
    if (!found) throw new Error(`There is no client ${client ?? ''} to mint a token for.`);
    return found;
  };
  const times = ({ lifetimeSeconds = parts.lifetimeSeconds }: TokenOptions): Claims => {
    const now = Math.floor(clock.now() / 1000);
    // Issued before it ends, also when it has ended already.
    return { iat: Math.min(now, now + lifetimeSeconds - 1), exp: now + lifetimeSeconds };
  };

  const accessClaims = (options: TokenOptions): Claims => {
    const user = userOf(options);
    const { id } = clientOf(options);
    const granted = scopes.join(' ');
    return {
      sub: user.id,
      ...{ azp: id, client_id: id, jti: random.id(), aud: audience },
      ...(parts.tenant === undefined
        ? { scope: granted }
        : { scp: granted, tid: parts.tenant, ver: '2.0', ...entraClaims(user) }),
      ...authorityClaims(user),
    };
  };
  const appOnlyClaims = (options: TokenOptions): Claims => {
    const client = clientOf(options);
    const { id } = client;
    return { sub: id, azp: id, client_id: id, jti: random.id(), aud: audience, ...appClaims(client) };
  };
  const idClaims = (options: TokenOptions): Claims => {
    const user = userOf(options);
    const hashes = { nonce: random.id(), at_hash: random.id() };
    return {
      sub: user.id,
      aud: clientOf(options).id,
      ...hashes,
      ...personClaims(user),
      ...authorityClaims(user),
    };
  };

  const compose = (claims: Claims, header: Claims, options: TokenOptions, signer: Signer): string => {
    const subject = options.subject === undefined ? {} : { sub: options.subject };
    const payload = { iss: issuer, ...times(options), ...claims, ...subject, ...options.claims };
    const data = `${encode({ ...header, ...options.header })}.${encode(payload)}`;
    return `${data}.${signer(data).toString('base64url')}`;
  };
  const signed = (claims: Claims, typ: string, options: TokenOptions): string => {
    const { kid, privateKey } = options.key ?? keys.current();
    // By hand: a library would refuse the headers that are worth trying.
    return compose(claims, { alg: 'RS256', typ, kid }, options, (data) =>
      sign('sha256', Buffer.from(data), privateKey),
    );
  };

  return {
    mint: (options = {}) => signed(accessClaims(options), 'at+jwt', options),
    mintAppOnly: (options = {}) => signed(appOnlyClaims(options), 'at+jwt', options),
    mintIdToken: (options = {}) => signed(idClaims(options), 'JWT', options),
    mintUnsigned: (options = {}) =>
      compose(accessClaims(options), { alg: 'none', typ: 'at+jwt' }, options, () => Buffer.alloc(0)),
    mintWithPublicKeyAsSecret: ({ text = 'pem', ...options } = {}) => {
      const { kid, publicKey } = options.key ?? keys.current();
      const secret =
        text === 'pem'
          ? publicKey.export({ format: 'pem', type: 'spki' })
          : JSON.stringify(publicKey.export({ format: 'jwk' }));
      return compose(accessClaims(options), { alg: 'HS256', typ: 'at+jwt', kid }, options, (data) =>
        createHmac('sha256', secret).update(data).digest(),
      );
    },
    unknownKey: () => createSigningKey(random),
  };
}

function encode(part: Claims): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
