import type { Clock, Random } from '@behalf/kernel';
import type { ClientProof, OAuthClient } from './oauthClient.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Long enough for one request and for clocks that differ. */
const ASSERTION_LIFETIME_S = 60;

export interface ProofParts {
  readonly issuer: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** What is added to a request so that the authorization server knows the client. */
export interface ProvenClient {
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

/** One proof and never two (RFC 6749, section 2.3). Rejects when the key does not sign. */
export async function proveClient(
  { clientId, proof }: OAuthClient,
  parts: ProofParts,
): Promise<ProvenClient> {
  const named = { client_id: clientId };
  switch (proof.method) {
    case 'none':
      return { headers: {}, fields: named };
    case 'client_secret_post':
      return { headers: {}, fields: { ...named, client_secret: proof.secret.reveal() } };
    case 'client_secret_basic':
      return { headers: { authorization: basic(clientId, proof.secret.reveal()) }, fields: {} };
    case 'private_key_jwt':
      return {
        headers: {},
        fields: {
          ...named,
          client_assertion_type: ASSERTION_TYPE,
          client_assertion: await signAssertion(clientId, proof, parts),
        },
      };
  }
}

/** Both are form-encoded before they are joined (RFC 6749, section 2.3.1): a colon or a percent sign would not survive. */
function basic(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`).toString('base64')}`;
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** RFC 7523, section 2.2. The issuer alone is its audience: nobody else can use it, whatever endpoint they advertise. */
async function signAssertion(
  clientId: string,
  { key, alg, kid }: Extract<ClientProof, { method: 'private_key_jwt' }>,
  { issuer, clock, random }: ProofParts,
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
