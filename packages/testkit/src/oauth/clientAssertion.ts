import { constants, createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import type { AuthorizationClient, Json } from './authorizationServerTypes.ts';
import { OAuthErrorResponse } from './oauthErrorResponse.ts';

interface AssertionContext {
  readonly audiences: readonly string[];
  readonly now: number;
  /** Ids that came before: an assertion is good once. */
  readonly usedIds: Set<string>;
}

/** RFC 7523, 3: signed by one of the client's keys, by and about itself, for us, now, once. */
export function verifyAssertion(
  assertion: string,
  { clientId, keys = [] }: AuthorizationClient,
  { audiences, now, usedIds }: AssertionContext,
): void {
  const reject = (reason: string): never => {
    throw new OAuthErrorResponse('invalid_client', `client assertion: ${reason}`);
  };
  const [encodedHeader = '', payload = '', signature = ''] = assertion.split('.');
  const header = decodePart(encodedHeader);
  const claims = decodePart(payload);
  const signed = Buffer.from(`${encodedHeader}.${payload}`);
  const raw = Buffer.from(signature, 'base64url');
  if (!keys.some((key) => matchesKeyId(key, header) && isSignedBy(key, String(header['alg']), signed, raw))) {
    reject('no known key verifies the signature');
  }
  if (claims['iss'] !== clientId || claims['sub'] !== clientId) reject('iss and sub must be the client id');
  const audience = [claims['aud']].flat();
  if (!audience.some((each) => audiences.includes(String(each)))) reject('wrong audience');
  if (typeof claims['exp'] !== 'number' || claims['exp'] * 1_000 <= now) reject('expired');
  const id = String(claims['jti']);
  if (claims['jti'] === undefined || usedIds.has(id)) reject('jti was used before');
  usedIds.add(id);
}

function decodePart(text: string): Json {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Json;
  } catch {
    return {};
  }
}

function matchesKeyId(key: JsonWebKey, { kid }: Json): boolean {
  return kid === undefined || key['kid'] === undefined || key['kid'] === kid;
}

function isSignedBy(jwk: JsonWebKey, alg: string, signed: Buffer, signature: Buffer): boolean {
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  switch (alg) {
    case 'ES256':
      return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
    case 'RS256':
      return verify('sha256', signed, key, signature);
    case 'PS256':
      return verify(
        'sha256',
        signed,
        { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
        signature,
      );
    case 'EdDSA':
      return verify(null, signed, key, signature);
    default:
      return false;
  }
}
