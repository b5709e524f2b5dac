import { generateKeyPairSync, sign } from 'node:crypto';
import type { Json } from './authorizationServerTypes.ts';

export interface IdTokens {
  readonly jwks: Json;
  sign(claims: Json): string;
}

/** Signs ID tokens with a key of this process. */
export function createIdTokens(): IdTokens {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = 'fixture';
  const encode = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return {
    jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' }] },
    sign(claims) {
      const signed = `${encode({ alg: 'ES256', kid, typ: 'JWT' })}.${encode(claims)}`;
      const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return `${signed}.${signature.toString('base64url')}`;
    },
  };
}
