import { type KeyObject, createECDH, createHash, createPrivateKey, sign } from 'node:crypto';
import { type Clock, HiddenText, type Random } from '@behalf/kernel';
import type { WireToken } from '../../upstream/target.ts';
import { createLruMap } from '../lruMap.ts';

/** How many servers' nonces are remembered. One that is forgotten costs one more request. */
const MAX_NONCES = 1_000;
/** RFC 9449, section 8.1, with an end. */
const NONCE_PATTERN = /^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/;

/** Proves that we hold one key. */
export interface Prover {
  readonly thumbprint: string;
  /** For one request: its method, its address and, at a resource, the token that is presented with it. */
  createProof(method: string, url: string, accessToken?: string): string;
  /** What an answer from there said in `DPoP-Nonce`. True: it is another one than stood in the proof that was sent. */
  recordNonce(url: string, nonce: string | undefined, sentProof: string): boolean;
}

export interface Dpop {
  /** The same one for the same object. Throws where the text is no key. */
  proverFor(key: HiddenText): Prover;
}

/** Proofs of possession (RFC 9449). What servers want repeated is remembered by their origin, for all keys. */
export function createDpop({ clock, random }: { readonly clock: Clock; readonly random: Random }): Dpop {
  const nonces = createLruMap<string>(MAX_NONCES);
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
        // Not what is known by now: another request may have heard of it while this one was under way.
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

/** Of a proof of our own. */
function readNonce(proof: string): unknown {
  const [, claims = ''] = proof.split('.');
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { nonce?: unknown }).nonce;
}

function hashAccessToken(accessToken: string): string {
  return createHash('sha256').update(accessToken, 'ascii').digest('base64url');
}

function getOrigin(url: string): string {
  return new URL(url).origin;
}

/** Section 4.2: neither query nor fragment. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

const CURVE = 'prime256v1';
const COORDINATE_BYTES = 32;

/** A key pair that tokens are bound to (RFC 9449): ES256, and never two users' or two credentials'. */
interface DpopKey {
  readonly privateKey: KeyObject;
  /** The public half, as it stands in proofs. */
  readonly jwk: { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string };
  /** RFC 7638: what tokens and authorization codes name the key by. */
  readonly thumbprint: string;
}

/** A new one, as it is sealed: a private JWK. */
export function createDpopKey(random: Random): HiddenText {
  for (;;) {
    const jwk = toPrivateJwk(random.bytes(COORDINATE_BYTES));
    if (jwk) return new HiddenText(JSON.stringify(jwk));
  }
}

/** The same one for the same secret, so that it need not be kept. Whoever has the secret has the key. */
export function deriveDpopKey(secret: string): HiddenText {
  for (let round = 0; ; round += 1) {
    const jwk = toPrivateJwk(
      createHash('sha256')
        .update(JSON.stringify(['dpop', round, secret]))
        .digest(),
    );
    if (jwk) return new HiddenText(JSON.stringify(jwk));
  }
}

/** Throws where it is none. */
export function parseDpopKey(text: HiddenText): DpopKey {
  const { x, y, d } = JSON.parse(text.reveal()) as { x: string; y: string; d: string };
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const;
  // Its members in the order of their names, and no others.
  const thumbprintInput = JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x, y });
  return {
    privateKey: createPrivateKey({ key: { ...jwk, d }, format: 'jwk' }),
    jwk,
    thumbprint: createHash('sha256').update(thumbprintInput).digest('base64url'),
  };
}

/** Undefined where the number is not one of the curve's, which next to none is. */
function toPrivateJwk(secret: Uint8Array): Record<string, string> | undefined {
  const ecdh = createECDH(CURVE);
  try {
    ecdh.setPrivateKey(secret);
  } catch {
    return undefined;
  }
  // 0x04, x, y.
  const point = ecdh.getPublicKey();
  const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  return {
    ...{ kty: 'EC', crv: 'P-256' },
    x: encode(point.subarray(1, 1 + COORDINATE_BYTES)),
    y: encode(point.subarray(1 + COORDINATE_BYTES)),
    d: encode(secret),
  };
}

/** An access token, and what proves the key it is bound to, where it is. */
interface TokenWithProver {
  readonly accessToken: string;
  readonly prover?: Prover | undefined;
}

/** As it is presented: one that is bound to a key is never a mere text. */
export function toWireToken({ accessToken, prover }: TokenWithProver): WireToken {
  if (!prover) return accessToken;
  return {
    text: accessToken,
    createProof: (method, url) => prover.createProof(method, url, accessToken),
    recordNonce: (url, nonce, sent) => prover.recordNonce(url, nonce, sent),
  };
}
