import { createHash, sign } from 'node:crypto';
import type { Clock, HiddenText, Random } from '@behalf/kernel';
import { createLruMap } from '../lruMap.ts';
import { parseDpopKey, type DpopKey } from './dpopKey.ts';

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
