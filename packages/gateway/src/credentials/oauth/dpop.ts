import { type JsonWebKey, type KeyObject, createECDH, createHash, createPrivateKey, sign } from 'node:crypto';
import { type Clock, HiddenText, LruMap, type Random } from '@behalf/kernel';
import type { WireToken } from '../../upstream/target.ts';
import { getOrigin } from './addresses.ts';

/*
 * DPoP (RFC 9449): access tokens bound to a key. Invariants: each credential has its own ES256 key, and each user has separate keys.
 * A bound token is always presented with a proof (ADR 26). Proofs are signed synchronously with node:crypto, directly before sending.
 */

/** A forgotten nonce costs one more request. */
const MAX_NONCES = 1_000;
/** RFC 9449, section 8.1, with a length limit. */
const NONCE_PATTERN = /^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/;

/** Proves possession of one key. */
export interface Prover {
  readonly thumbprint: string;
  /** For one request: method, URL and, at a resource server, the access token that the request presents. */
  createProof(method: string, url: string, accessToken?: string): string;
  /** Records the `DPoP-Nonce` of a response. True if it differs from the nonce in the sent proof. */
  recordNonce(url: string, nonce: string | undefined, sentProof: string): boolean;
}

export interface Dpop {
  /** Returns the same prover for the same object. Throws if the text is not a key. */
  proverFor(key: HiddenText): Prover;
}

/** Nonces are stored per origin, for all keys. */
export function createDpop({ clock, random }: { readonly clock: Clock; readonly random: Random }): Dpop {
  const nonces = new LruMap<string, string>(MAX_NONCES);
  const provers = new WeakMap<HiddenText, Prover>();

  function createProver({ privateKey, jwk, thumbprint }: DpopKey): Prover {
    const header = encodeJson({ typ: 'dpop+jwt', alg: 'ES256', jwk });
    return {
      thumbprint,
      createProof(method, url, accessToken) {
        const nonce = nonces.get(getOrigin(url));
        const claims = encodeJson({
          jti: random.id(),
          htm: method,
          htu: withoutQuery(url),
          iat: Math.floor(clock.now() / 1_000),
          ...(accessToken !== undefined && { ath: hashAccessToken(accessToken) }),
          ...(nonce !== undefined && { nonce }),
        });
        const data = Buffer.from(`${header}.${claims}`);
        const signature = sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
        return `${header}.${claims}.${signature.toString('base64url')}`;
      },
      recordNonce(url, nonce, sentProof) {
        if (nonce === undefined || !NONCE_PATTERN.test(nonce)) return false;
        nonces.set(getOrigin(url), nonce);
        // Compared with the sent proof, not with the stored nonce: another request may have stored this nonce in between.
        return readNonce(sentProof) !== nonce;
      },
    };
  }

  return {
    proverFor(text) {
      const existing = provers.get(text);
      if (existing) return existing;
      const prover = createProver(parseDpopKey(text));
      provers.set(text, prover);
      return prover;
    },
  };
}

function encodeJson(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The nonce of a proof that this gateway created. */
function readNonce(proof: string): unknown {
  const [, claims = ''] = proof.split('.');
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { nonce?: unknown }).nonce;
}

function hashAccessToken(accessToken: string): string {
  return createHash('sha256').update(accessToken, 'ascii').digest('base64url');
}

/** RFC 9449, section 4.2: `htu` has neither query nor fragment. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

const CURVE = 'prime256v1';
const COORDINATE_BYTES = 32;

/** An ES256 key pair. */
interface DpopKey {
  readonly privateKey: KeyObject;
  /** The public key, part of each proof. */
  readonly jwk: { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string };
  /** RFC 7638. Tokens and authorization codes refer to the key by its thumbprint. */
  readonly thumbprint: string;
}

/** A new key as a private JWK, ready to be sealed. */
export function createDpopKey(random: Random): HiddenText {
  for (;;) {
    const jwk = toPrivateJwk(random.bytes(COORDINATE_BYTES));
    if (jwk) return new HiddenText(JSON.stringify(jwk));
  }
}

/** Derives a key from a secret, so that all replicas have it and none stores it. */
export function deriveDpopKey(secret: string): HiddenText {
  for (let round = 0; ; round += 1) {
    const seed = JSON.stringify(['dpop', round, secret]);
    const jwk = toPrivateJwk(createHash('sha256').update(seed).digest());
    if (jwk) return new HiddenText(JSON.stringify(jwk));
  }
}

/** Throws if the text is not a key. */
export function parseDpopKey(text: HiddenText): DpopKey {
  const { x, y, d } = JSON.parse(text.reveal()) as { x: string; y: string; d: string };
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const;
  return {
    privateKey: createPrivateKey({ key: { ...jwk, d }, format: 'jwk' }),
    jwk,
    thumbprint: computeThumbprint(jwk),
  };
}

/** RFC 7638: only the required members of an EC key, in lexicographic order. */
export function computeThumbprint({ crv, kty, x, y }: JsonWebKey): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

/** Undefined if the number is zero or not below the order of the curve, which is extremely rare. */
function toPrivateJwk(secret: Uint8Array): Record<string, string> | undefined {
  const ecdh = createECDH(CURVE);
  try {
    ecdh.setPrivateKey(secret);
  } catch {
    return undefined;
  }
  // Uncompressed point: 0x04, x, y.
  const point = ecdh.getPublicKey();
  const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  return {
    ...{ kty: 'EC', crv: 'P-256' },
    x: encode(point.subarray(1, 1 + COORDINATE_BYTES)),
    y: encode(point.subarray(1 + COORDINATE_BYTES)),
    d: encode(secret),
  };
}

/** An access token for the upstream client. A bound token is an object with a proof function, never plain text (ADR 26). */
export function toWireToken({
  accessToken,
  prover,
}: {
  readonly accessToken: string;
  readonly prover?: Prover | undefined;
}): WireToken {
  if (!prover) return accessToken;
  return {
    text: accessToken,
    createProof: (method, url) => prover.createProof(method, url, accessToken),
    recordNonce: (url, nonce, sent) => prover.recordNonce(url, nonce, sent),
  };
}
