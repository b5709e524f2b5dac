import { type Clock, type HiddenText, LruMap } from '@behalf/kernel';
import { canonicalizeUrl } from '../../oauth/addresses.ts';
import {
  type HttpResponse,
  type JsonBody,
  MAX_TOKEN_LENGTH,
  parseJsonObject,
} from '../../oauth/tokenRequest.ts';
import { ExchangeFault, type ExchangeProvider, type ExchangeRequest } from '../exchangeProvider.ts';
import type { SubjectKind, UseRefreshToken } from '../subject.ts';
import { readTokenResponse, requireSuccess } from './exchangeResponse.ts';
import {
  type GrantFields,
  type ProviderClient,
  createProviderIdentity,
  misconfigured,
} from './providerClient.ts';
import { type ProviderParts, assertionFields } from './rfc7523.ts';
import { ID_JAG_TYPE, idJagFields } from './rfc8693.ts';

/** The MCP extension that the gateway declares to servers. */
export const ENTERPRISE_MANAGED = 'io.modelcontextprotocol/enterprise-managed-authorization';
/** Assertion ids kept for replay detection. An assertion is valid for minutes. */
const MAX_SENT_ASSERTIONS = 10_000;

/** The setting `subject`. */
const subjectKinds = {
  id_token: 'id_token',
  refresh_token: 'refresh_token',
  auto: 'id_or_refresh_token',
} as const satisfies Record<string, SubjectKind>;

/** An authorization server of the `resourceServers` list. */
interface ResourceServerClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly client: ProviderClient;
}

interface IdJagProviderParts extends ProviderParts {
  readonly resourceServers: readonly ResourceServerClient[];
  /** The issuer that `obo.audience` of the server definition selects. */
  readonly audience: string | undefined;
}

/**
 * Enterprise-managed authorization (draft-ietf-oauth-identity-assertion-authz-grant), in two exchanges. The identity provider issues an
 * assertion about the user for the authorization server of the resource (RFC 8693). That server issues an access token for the assertion
 * (RFC 7523). Invariants: an assertion is sent once and stored nowhere, so a repeated exchange repeats both requests; only authorization
 * servers in `resourceServers` receive one.
 */
export function createIdJagProvider(parts: IdJagProviderParts): ExchangeProvider {
  const { client, actor, clock, resourceServers, audience } = parts;
  const { settings } = client;
  const candidates =
    audience === undefined ? resourceServers : resourceServers.filter(({ issuer }) => issuer === audience);
  const resourceServerClients = candidates.map((candidate) => candidate.client);
  const identity = createProviderIdentity({ client, actor, grant: 'id-jag', resourceServerClients });
  const sentAssertions = new LruMap<string, true>(MAX_SENT_ASSERTIONS);

  /** If several are configured, the first one that the metadata of the MCP server lists. */
  async function chooseAuthorizationServer({ targetServer }: ExchangeRequest): Promise<ResourceServerClient> {
    const [first, ...others] = candidates;
    if (!first) throw misconfigured(settings, 'obo.audience is not an issuer in resourceServers');
    if (others.length === 0) return first;
    const published = await targetServer.authorizationServers();
    const match = published.map((name) => candidates.find(({ issuer }) => issuer === name)).find(Boolean);
    if (match) return match;
    throw misconfigured(
      settings,
      'the server does not list any issuer of resourceServers as its authorization server; set obo.audience',
    );
  }

  return {
    get identity() {
      return identity();
    },
    subjectKind: subjectKinds[settings.subject ?? 'id_token'],
    isKeyBound: settings.dpop === 'require',
    extension: ENTERPRISE_MANAGED,
    async exchange(request, signal) {
      const authorizationServer = await chooseAuthorizationServer(request);
      const { issuer: assertionAudience, clientId } = authorizationServer;
      const resource = request.resource ?? canonicalizeUrl(request.targetServer.url);
      if (resource === undefined)
        throw misconfigured(settings, 'the URL of the server is not a valid resource identifier');
      const { token, withRefreshToken } = request.subject;
      const buildFields = (subjectToken: HiddenText) =>
        idJagFields({ ...request, resource, audience: assertionAudience }, subjectToken);
      const response = withRefreshToken
        ? await postWithRefreshToken(client, withRefreshToken, buildFields, signal)
        : await client.postGrant(buildFields(token), signal);
      const expected = { clock, resource, issuer: settings.issuer, audience: assertionAudience, clientId };
      const assertion = readIdJagResponse(response, expected);
      // The authorization server would treat a second use as a replay.
      if (sentAssertions.get(assertion.jti)) {
        throw new ExchangeFault('OBO_EMPTY_RESPONSE', {
          hint: 'The provider returned the same assertion twice.',
        });
      }
      sentAssertions.set(assertion.jti, true);
      const { prover } = request;
      try {
        const fields = assertionFields(assertion.text);
        const tokenResponse = await authorizationServer.client.postGrant(fields, signal, prover);
        return readTokenResponse(tokenResponse, {
          clock,
          grant: 'jwt-bearer',
          isBound: prover !== undefined,
        });
      } catch (error) {
        throw error instanceof ExchangeFault ? toResourceServerFault(error) : error;
      }
    },
  };
}

/**
 * Rewrites a fault of the second exchange. Its claims are dropped: they would become part of the user's next sign-in at the identity
 * provider, which did not ask for them. A consent request becomes a rejection, because this grant has no consent page.
 */
function toResourceServerFault({ code, detail }: ExchangeFault): ExchangeFault {
  const requiresUser = code === 'OBO_CONSENT_REQUIRED';
  const hint = requiresUser
    ? 'It requires user interaction, which this grant does not support.'
    : detail.hint;
  return new ExchangeFault(requiresUser ? 'OBO_REJECTED' : code, {
    ...detail,
    claims: undefined,
    hint: `At the resource’s authorization server: ${hint ?? 'the assertion was not accepted.'}`,
  });
}

const JWT_TYPE = 'oauth-id-jag+jwt';
const JWT_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const CLOCK_TOLERANCE_S = 5;

interface ExpectedIdJag {
  readonly clock: Clock;
  /** The identity provider. Undefined if only its token endpoint is known. */
  readonly issuer: string | undefined;
  /** The issuer of the resource's authorization server. */
  readonly audience: string;
  /** The gateway's client id there. */
  readonly clientId: string;
  readonly resource: string;
}

/**
 * Reads the assertion from the response, or throws ExchangeFault. The gateway received it from the provider's token endpoint, so it
 * leaves the signature to the authorization server. It checks recipient, client, resource and expiry, so that an assertion for another
 * recipient is never sent.
 */
function readIdJagResponse(
  response: HttpResponse,
  expected: ExpectedIdJag,
): { readonly text: string; readonly jti: string } {
  const { status } = response;
  const body = requireSuccess(response, expected.clock, 'token-exchange');
  const refuse = (hint: string) => new ExchangeFault('OBO_EMPTY_RESPONSE', { status, hint });
  if (!body) throw refuse('The token endpoint did not respond with JSON.');
  const { access_token: text, token_type: type, issued_token_type: issued } = body;
  if (typeof text !== 'string' || text.length > MAX_TOKEN_LENGTH || !JWT_PATTERN.test(text))
    throw refuse('The response does not contain an assertion.');
  // Draft, section 4.3.3, and RFC 8693, section 2.2.1: `N_A` states that this is not an access token.
  if (issued !== ID_JAG_TYPE || typeof type !== 'string' || type.toUpperCase() !== 'N_A')
    throw refuse('The issued token is not an ID-JAG: the provider may not offer it to this client.');
  const [header, claims] = text
    .split('.')
    .map((part) => parseJsonObject(Buffer.from(part, 'base64url').toString()));
  const problem = findProblem(header, claims, expected);
  if (problem !== undefined) throw refuse(`The assertion does not match the request: ${problem}.`);
  return { text, jti: String(claims?.['jti']) };
}

function findProblem(
  header: JsonBody | undefined,
  claims: JsonBody | undefined,
  expected: ExpectedIdJag,
): string | undefined {
  if (!header || !claims) return 'it cannot be read';
  const { typ, alg } = header;
  if (typeof typ !== 'string' || typ.toLowerCase() !== JWT_TYPE) return `its typ is not ${JWT_TYPE}`;
  if (typeof alg !== 'string' || alg.toLowerCase() === 'none') return 'it is not signed';
  const { iss, sub, aud, client_id: clientId, resource, exp, jti } = claims;
  if (expected.issuer !== undefined && iss !== expected.issuer) return 'its iss is another issuer';
  if (singleText(aud) !== expected.audience) return 'its aud is not the authorization server';
  if (clientId !== expected.clientId)
    return 'its client_id is not the client configured for the authorization server';
  const claimedResource = singleText(resource);
  if (claimedResource === undefined || normalizeUri(claimedResource) !== normalizeUri(expected.resource))
    return 'its resource is not the MCP server';
  if (typeof sub !== 'string' || sub === '') return 'its sub is missing';
  if (typeof jti !== 'string' || jti === '') return 'it has no jti';
  const now = expected.clock.now() / 1_000;
  if (typeof exp !== 'number' || exp <= now - CLOCK_TOLERANCE_S) return 'it has expired';
  return undefined;
}

function normalizeUri(text: string): string {
  return canonicalizeUrl(text) ?? text;
}

/** Undefined for several values: a second recipient could use the assertion too. */
function singleText(value: unknown): string | undefined {
  const [first, ...others] = Array.isArray(value) ? (value as unknown[]) : [value];
  return others.length === 0 && typeof first === 'string' ? first : undefined;
}

/**
 * Sends one form with the user's refresh token while the vault guarantees exclusive use. Some providers rotate the token: the vault
 * stores the new one before the response is used.
 */
async function postWithRefreshToken(
  client: ProviderClient,
  withRefreshToken: UseRefreshToken,
  buildFields: (token: HiddenText) => GrantFields,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { settings } = client;
  // Read before borrowing, so that no file or metadata request delays the use of the token.
  const [tokenEndpoint] = await Promise.all([client.endpoint(), client.readCredential()]);
  const use = await withRefreshToken(signal, async (borrowed) => {
    // RFC 6749, section 10.4: a refresh token is bound to its client and may only be sent to its authorization server.
    if (borrowed.endpoint !== tokenEndpoint.url || borrowed.clientId !== settings.clientId) {
      // The provider moved its endpoint after this sign-in. A new sign-in solves it; a configuration fault would stop every user.
      if (settings.tokenEndpoint === undefined && borrowed.clientId === settings.clientId)
        throw new ExchangeFault('OBO_REJECTED', { hint: 'The sign-in used a different token endpoint.' });
      throw misconfigured(
        settings,
        'a refresh token is only sent to the token endpoint and by the client of its sign-in',
      );
    }
    const response = await client.postGrant(buildFields(borrowed.reveal()), signal);
    return { value: response, rotatedToken: readRotatedToken(response), isInDoubt: response.status >= 500 };
  });
  switch (use.kind) {
    case 'used':
      return use.value;
    case 'unavailable':
      throw new ExchangeFault('OBO_TEMPORARY', { retryAfterMs: use.retryAfterMs });
    case 'absent':
    case 'expired':
      throw new ExchangeFault('OBO_REJECTED', {
        hint: 'The refresh token of the sign-in is no longer valid.',
      });
  }
}

/** Read even if the rest of the response is unusable: the previous refresh token may be invalid. */
function readRotatedToken({ status, text = '' }: HttpResponse): string | undefined {
  const token = status >= 200 && status <= 299 ? parseJsonObject(text)?.['refresh_token'] : undefined;
  return typeof token === 'string' && token !== '' && token.length <= MAX_TOKEN_LENGTH ? token : undefined;
}
