import type { KeyObject } from 'node:crypto';
import type { Clock, Random } from '@behalf/kernel';
import { ExchangeFault } from '../exchangeFault.ts';
import type { Proof } from './clientCredential.ts';

export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Long enough for one request and for clocks that differ. */
const ASSERTION_LIFETIME_S = 60;

export interface ClientAuthParts {
  readonly clientId: string;
  readonly proof: Proof;
  /** Where a secret is written. */
  readonly secretIn: 'basic' | 'post';
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
export async function clientAuth(parts: ClientAuthParts): Promise<ClientAuth> {
  const { clientId, proof, secretIn } = parts;
  const named = ['client_id', clientId] as const;
  switch (proof.kind) {
    case 'none':
      return { headers: {}, fields: [named] };
    case 'secret':
      return secretIn === 'post'
        ? { headers: {}, fields: [named, ['client_secret', proof.secret]] }
        : { headers: { authorization: basic(clientId, proof.secret) }, fields: [] };
    case 'key':
      return asserted(named, await signAssertion(proof, parts));
    case 'assertion':
      return asserted(named, proof.assertion);
  }
}

function asserted(named: readonly [string, string], assertion: string): ClientAuth {
  return {
    headers: {},
    fields: [named, ['client_assertion_type', ASSERTION_TYPE], ['client_assertion', assertion]],
  };
}

/** Both are form-encoded before they are joined (RFC 6749, section 2.3.1): a colon or a percent sign would not survive. */
function basic(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`).toString('base64')}`;
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** private_key_jwt (RFC 7523, section 2.2). */
async function signAssertion(
  { key, thumbprint }: Extract<Proof, { kind: 'key' }>,
  { clientId, tokenEndpoint, clock, random }: ClientAuthParts,
): Promise<string> {
  const alg = algorithmOf(key);
  if (alg === undefined) {
    const hint =
      'privateKeyFile must hold an RSA key (not RSA-PSS), or one on P-256, P-384, P-521 or Ed25519.';
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
    throw new ExchangeFault('OBO_MISCONFIGURED', { hint: 'privateKeyFile holds too weak a key.', cause });
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
