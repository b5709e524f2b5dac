import type { KeyObject } from 'node:crypto';
import type { Clock, HiddenText, Random } from '@behalf/kernel';

/** How we prove at an authorization server that we are the client. */
export type ClientAuthentication =
  | { readonly method: 'none' }
  | { readonly method: 'client_secret_basic' | 'client_secret_post'; readonly secret: HiddenText }
  | {
      readonly method: 'private_key_jwt';
      readonly key: KeyObject;
      readonly alg: string;
      readonly kid?: string | undefined;
    };

/** Who we are at one authorization server, for one server. */
export interface OAuthClient {
  readonly clientId: string;
  /**
   * `configured`: the definition or the environment names it; never removed by us. `document`: a client ID metadata document
   * that we serve. `dynamic`: registered by us.
   */
  readonly source: 'configured' | 'document' | 'dynamic';
  readonly auth: ClientAuthentication;
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Long enough for one request and for clocks that differ. */
const ASSERTION_LIFETIME_S = 60;

interface ClientAuthenticationParts {
  readonly issuer: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** What is added to a request so that the authorization server knows the client. */
export interface ClientAuthenticationParams {
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

/** One proof and never two (RFC 6749, section 2.3). Rejects when the key does not sign. */
export async function authenticateClient(
  { clientId, auth }: OAuthClient,
  parts: ClientAuthenticationParts,
): Promise<ClientAuthenticationParams> {
  const clientIdField = { client_id: clientId };
  switch (auth.method) {
    case 'none':
      return { headers: {}, fields: clientIdField };
    case 'client_secret_post':
      return { headers: {}, fields: { ...clientIdField, client_secret: auth.secret.reveal() } };
    case 'client_secret_basic':
      return { headers: { authorization: basicHeader(clientId, auth.secret.reveal()) }, fields: {} };
    case 'private_key_jwt':
      return {
        headers: {},
        fields: {
          ...clientIdField,
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: await signAssertion(clientId, auth, parts),
        },
      };
  }
}

/** Both are form-encoded before they are joined (RFC 6749, section 2.3.1): a colon or a percent sign would not survive. */
function basicHeader(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`).toString('base64')}`;
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** RFC 7523, section 2.2. The issuer alone is its audience: nobody else can use it, whatever endpoint they advertise. */
async function signAssertion(
  clientId: string,
  { key, alg, kid }: Extract<ClientAuthentication, { method: 'private_key_jwt' }>,
  { issuer, clock, random }: ClientAuthenticationParts,
): Promise<string> {
  const { SignJWT } = await import('jose');
  const now = Math.floor(clock.now() / 1_000);
  return new SignJWT({})
    .setProtectedHeader({ alg, typ: 'JWT', ...(kid !== undefined && { kid }) })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(issuer)
    .setJti(random.id())
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION_LIFETIME_S)
    .sign(key);
}
