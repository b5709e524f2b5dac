import type { KeyObject } from 'node:crypto';
import type { Clock, HiddenText, Random } from '@behalf/kernel';

/**
 * The value of `aud` in a client assertion. `issuer`: the issuer identifier of the authorization server
 * (draft-ietf-oauth-rfc7523bis). `token_endpoint`: the URL of its token endpoint (OpenID Connect Core 1.0, section 9).
 */
export type AssertionAudience = 'issuer' | 'token_endpoint';

/** How the gateway authenticates as a client at an authorization server. */
export type ClientAuthentication =
  | { readonly method: 'none' }
  | { readonly method: 'client_secret_basic' | 'client_secret_post'; readonly secret: HiddenText }
  | SigningKey
  /** An assertion that another party issues to the gateway, for example a workload identity token. */
  | { readonly method: 'private_key_jwt'; readonly assertion: HiddenText };

interface SigningKey {
  readonly method: 'private_key_jwt';
  readonly key: KeyObject;
  readonly alg: string;
  readonly kid?: string | undefined;
  /** SHA-256 of the certificate of the key, hexadecimal. Sent as `x5t#S256`. */
  readonly certificateThumbprint?: string | undefined;
  /** Default: `issuer`. */
  readonly audience?: AssertionAudience | undefined;
}

/** The identity of the gateway at one authorization server, for one MCP server. */
export interface OAuthClient {
  readonly clientId: string;
  /**
   * `configured`: named by the server definition or the environment; the gateway never removes it. `document`: a client ID
   * metadata document that the gateway serves. `dynamic`: registered by the gateway (RFC 7591).
   */
  readonly source: 'configured' | 'document' | 'dynamic';
  readonly auth: ClientAuthentication;
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Covers one request and the clock difference between the two hosts. */
const ASSERTION_LIFETIME_S = 60;

interface AuthenticationContext {
  /** Undefined if only the token endpoint of the authorization server is known. */
  readonly issuer: string | undefined;
  readonly tokenEndpoint: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Headers and form fields that authenticate one request. */
interface ClientAuthenticationParams {
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Authenticates one request with exactly one method (RFC 6749, section 2.3). Call it for every request: an assertion is valid
 * once. Rejects if the key cannot sign.
 */
export async function authenticateClient(
  { clientId, auth }: OAuthClient,
  context: AuthenticationContext,
): Promise<ClientAuthenticationParams> {
  const clientIdField = { client_id: clientId };
  switch (auth.method) {
    case 'none':
      return { headers: {}, fields: clientIdField };
    case 'client_secret_post':
      return { headers: {}, fields: { ...clientIdField, client_secret: auth.secret.reveal() } };
    case 'client_secret_basic':
      return { headers: { authorization: basicHeader(clientId, auth.secret.reveal()) }, fields: {} };
    case 'private_key_jwt': {
      const assertion =
        'assertion' in auth ? auth.assertion.reveal() : await signAssertion(clientId, auth, context);
      return {
        headers: {},
        fields: { ...clientIdField, client_assertion_type: ASSERTION_TYPE, client_assertion: assertion },
      };
    }
  }
}

/** RFC 6749, section 2.3.1: both values are form-encoded first, so that a colon or a percent sign survives. */
function basicHeader(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`).toString('base64')}`;
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/**
 * RFC 7523, section 2.2. `aud` has exactly one value: an assertion with several audiences can be used at each of them (audience
 * injection). ADR 34 explains the default and the override.
 */
async function signAssertion(
  clientId: string,
  { key, alg, kid, certificateThumbprint, audience = 'issuer' }: SigningKey,
  { issuer, tokenEndpoint, clock, random }: AuthenticationContext,
): Promise<string> {
  // Loaded on first use: most gateways never sign an assertion.
  const { SignJWT } = await import('jose');
  const now = Math.floor(clock.now() / 1_000);
  const thumbprint = certificateThumbprint && Buffer.from(certificateThumbprint, 'hex').toString('base64url');
  return new SignJWT({})
    .setProtectedHeader({
      alg,
      typ: 'JWT',
      ...(kid !== undefined && { kid }),
      ...(thumbprint !== undefined && { 'x5t#S256': thumbprint }),
    })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(audience === 'issuer' ? (issuer ?? tokenEndpoint) : tokenEndpoint)
    .setJti(random.id())
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION_LIFETIME_S)
    .sign(key);
}

const CURVE_ALGORITHMS: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** The JWS algorithm for a key. Undefined if Web Crypto cannot sign with it; RSA-PSS keys belong to this group. */
export function signingAlgorithm(key: KeyObject): string | undefined {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return 'RS256';
    case 'ec':
      return CURVE_ALGORITHMS[key.asymmetricKeyDetails?.namedCurve ?? ''];
    case 'ed25519':
      return 'EdDSA';
    default:
      return undefined;
  }
}
