import { createECDH, createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import { HiddenText, type Random } from '@behalf/kernel';

const CURVE = 'prime256v1';
const COORDINATE_BYTES = 32;

/** A key pair that tokens are bound to (RFC 9449): ES256, and never two users' or two credentials'. */
export interface DpopKey {
  readonly privateKey: KeyObject;
  /** The public half, as it stands in proofs. */
  readonly jwk: { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string };
  /** RFC 7638: what tokens and authorization codes name the key by. */
  readonly thumbprint: string;
}

/** A new one, as it is sealed: a private JWK. */
export function newDpopKey(random: Random): HiddenText {
  for (;;) {
    const jwk = jwkOf(random.bytes(COORDINATE_BYTES));
    if (jwk) return new HiddenText(JSON.stringify(jwk));
  }
}

/** The same one for the same secret, so that it need not be kept. Whoever has the secret has the key. */
export function dpopKeyOf(secret: string): HiddenText {
  for (let round = 0; ; round += 1) {
    const jwk = jwkOf(
      createHash('sha256')
        .update(JSON.stringify(['dpop', round, secret]))
        .digest(),
    );
    if (jwk) return new HiddenText(JSON.stringify(jwk));
  }
}

/** Throws where it is none. */
export function readDpopKey(text: HiddenText): DpopKey {
  const { x, y, d } = JSON.parse(text.reveal()) as { x: string; y: string; d: string };
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const;
  // Its members in the order of their names, and no others.
  const named = JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x, y });
  return {
    privateKey: createPrivateKey({ key: { ...jwk, d }, format: 'jwk' }),
    jwk,
    thumbprint: createHash('sha256').update(named).digest('base64url'),
  };
}

/** Undefined where the number is not one of the curve's, which next to none is. */
function jwkOf(secret: Uint8Array): Record<string, string> | undefined {
  const pair = createECDH(CURVE);
  try {
    pair.setPrivateKey(secret);
  } catch {
    return undefined;
  }
  // 0x04, x, y.
  const point = pair.getPublicKey();
  const part = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  return {
    ...{ kty: 'EC', crv: 'P-256' },
    x: part(point.subarray(1, 1 + COORDINATE_BYTES)),
    y: part(point.subarray(1 + COORDINATE_BYTES)),
    d: part(secret),
  };
}
