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
