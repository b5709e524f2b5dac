import { constants, createPublicKey, verify, type JsonWebKey } from 'node:crypto';
import type { AuthorizationClient, Json } from './authorizationServerTypes.ts';
import { OAuthRefusal } from './oauthRefusal.ts';

interface Against {
  readonly audiences: readonly string[];
  readonly now: number;
  /** Ids that came before: an assertion is good once. */
  readonly used: Set<string>;
}

/** RFC 7523, 3: signed by one of the client's keys, by and about itself, for us, now, once. */
export function verifyAssertion(
  assertion: string,
  { clientId, keys = [] }: AuthorizationClient,
  { audiences, now, used }: Against,
): void {
  const refuse = (why: string): never => {
    throw new OAuthRefusal('invalid_client', `client assertion: ${why}`);
  };
  const [head = '', payload = '', signature = ''] = assertion.split('.');
  const header = part(head);
  const claims = part(payload);
  const signed = Buffer.from(`${head}.${payload}`);
  const raw = Buffer.from(signature, 'base64url');
  if (!keys.some((key) => fits(key, header) && isSignedBy(key, String(header['alg']), signed, raw))) {
    refuse('no known key verifies the signature');
  }
  if (claims['iss'] !== clientId || claims['sub'] !== clientId) refuse('iss and sub must be the client id');
  const audience = [claims['aud']].flat();
  if (!audience.some((each) => audiences.includes(String(each)))) refuse('wrong audience');
  if (typeof claims['exp'] !== 'number' || claims['exp'] * 1_000 <= now) refuse('expired');
  const id = String(claims['jti']);
  if (claims['jti'] === undefined || used.has(id)) refuse('jti was used before');
  used.add(id);
}

function part(text: string): Json {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Json;
  } catch {
    return {};
  }
}

function fits(key: JsonWebKey, { kid }: Json): boolean {
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
