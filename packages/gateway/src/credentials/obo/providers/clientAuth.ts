import type { KeyObject } from 'node:crypto';
import type { Clock, Random } from '@behalf/kernel';
import { ExchangeFault } from '../exchangeFault.ts';
import type { CredentialMaterial } from './clientCredential.ts';

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Long enough for one request and for clocks that differ. */
const ASSERTION_LIFETIME_S = 60;

export interface ClientAuthParts {
  readonly clientId: string;
  readonly material: CredentialMaterial;
  /** Where a secret is written. */
  readonly secretPlacement: 'basic' | 'post';
  readonly tokenEndpoint: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** What is added to a token request. */
export interface ClientAuth {
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** One proof and never two (RFC 6749, section 2.3). */
export async function buildClientAuth(parts: ClientAuthParts): Promise<ClientAuth> {
  const { clientId, material, secretPlacement } = parts;
  const clientIdField = ['client_id', clientId] as const;
  switch (material.kind) {
    case 'none':
      return { headers: {}, fields: [clientIdField] };
    case 'secret':
      return secretPlacement === 'post'
        ? { headers: {}, fields: [clientIdField, ['client_secret', material.secret]] }
        : { headers: { authorization: basicAuthorization(clientId, material.secret) }, fields: [] };
    case 'key':
      return withAssertion(clientIdField, await signAssertion(material, parts));
    case 'assertion':
      return withAssertion(clientIdField, material.assertion);
  }
}

function withAssertion(clientIdField: readonly [string, string], assertion: string): ClientAuth {
  return {
    headers: {},
    fields: [clientIdField, ['client_assertion_type', ASSERTION_TYPE], ['client_assertion', assertion]],
  };
}

/** Both are form-encoded before they are joined (RFC 6749, section 2.3.1): a colon or a percent sign would not survive. */
function basicAuthorization(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`).toString('base64')}`;
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** private_key_jwt (RFC 7523, section 2.2). */
async function signAssertion(
  { key, thumbprint }: Extract<CredentialMaterial, { kind: 'key' }>,
  { clientId, tokenEndpoint, clock, random }: ClientAuthParts,
): Promise<string> {
  const alg = algorithmOf(key);
  if (alg === undefined) {
    const hint =
      'privateKeyFile must contain an RSA key (not RSA-PSS) or a P-256, P-384, P-521 or Ed25519 key.';
    throw new ExchangeFault('OBO_MISCONFIGURED', { hint });
  }
  const { SignJWT } = await import('jose');
  const now = Math.floor(clock.now() / 1_000);
  const assertion = new SignJWT({})
    .setProtectedHeader({
      alg,
      typ: 'JWT',
      ...(thumbprint !== undefined && { 'x5t#S256': Buffer.from(thumbprint, 'hex').toString('base64url') }),
    })
    .setIssuer(clientId)
    .setSubject(clientId)
    // One audience alone: providers refuse a list, because each of its members could use the assertion elsewhere.
    .setAudience(tokenEndpoint)
    .setJti(random.id())
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION_LIFETIME_S);
  try {
    return await assertion.sign(key);
  } catch (cause) {
    throw new ExchangeFault('OBO_MISCONFIGURED', { hint: 'The key in privateKeyFile is too weak.', cause });
  }
}

/** RSA keys that are bound to PSS cannot be loaded by the platform's Web Crypto. */
function algorithmOf(key: KeyObject): string | undefined {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return 'RS256';
    case 'ec':
      return { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }[
        key.asymmetricKeyDetails?.namedCurve ?? ''
      ];
    case 'ed25519':
      return 'EdDSA';
    default:
      return undefined;
  }
}
