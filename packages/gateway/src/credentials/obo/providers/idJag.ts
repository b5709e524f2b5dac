import type { Clock, HiddenText } from '@behalf/kernel';
import { createLruMap } from '../../lruMap.ts';
import { canonicalizeUrl } from '../../oauth/addresses.ts';
import type { Prover } from '../../oauth/dpop.ts';
import {
  ExchangeFault,
  type ExchangeProvider,
  type ExchangeRequest,
  type ExchangedToken,
} from '../exchangeProvider.ts';
import type { SubjectKind, UseRefreshToken } from '../subject.ts';
import { assertionFields, idJagFields } from './formProvider.ts';
import { type ProviderParts, createProviderIdentity } from './providerSettings.ts';
import { type PostGrantParts, type ProviderResponse, parseJsonObject, postGrant } from './tokenRequest.ts';
import { readTokenResponse, toResponseFault } from './tokenResponse.ts';

/** What we can do, as it is told to servers (MCP extension). */
export const ENTERPRISE_MANAGED = 'io.modelcontextprotocol/enterprise-managed-authorization';
/** How many assertions are remembered as sent. One lives for minutes. */
const MAX_SENT_ASSERTIONS = 10_000;

/** What `subject` of an entry says. */
const subjectKinds = {
  id_token: 'id_token',
  refresh_token: 'refresh_token',
  auto: 'id_or_refresh_token',
} as const satisfies Record<string, SubjectKind>;

/** An authorization server of the list, ready to be asked. */
export interface ResourceServerClient extends PostGrantParts {
  readonly issuer: string;
  readonly clientId: string;
}

interface IdJagProviderParts extends ProviderParts {
  readonly resourceServers: readonly ResourceServerClient[];
  /** Of several, the one that the server's definition names. */
  readonly audience: string | undefined;
}

/**
 * Enterprise-managed authorization: the identity provider asserts who the user is to the authorization server of the resource
 * (draft-ietf-oauth-identity-assertion-authz-grant), and nobody is sent anywhere. The assertion is used once and kept nowhere: whoever
 * repeats the exchange repeats both legs.
 */
export function createIdJagProvider(parts: IdJagProviderParts): ExchangeProvider {
  const { settings, clock, resourceServers, audience } = parts;
  const selectedServer =
    audience === undefined ? undefined : resourceServers.find(({ issuer }) => issuer === audience);
  const candidates = selectedServer ? [selectedServer] : audience === undefined ? resourceServers : [];
  const identity = createProviderIdentity({ ...parts, legs: candidates }, 'id-jag');
  const sentAssertions = createLruMap<true>(MAX_SENT_ASSERTIONS);

  const misconfigured = (hint: string) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${settings.name}: ${hint}` });

  /** Of several, the first that the server itself names. What it names besides is nobody's business. */
  async function chooseAuthorizationServer({ targetServer }: ExchangeRequest): Promise<ResourceServerClient> {
    const [first, ...others] = candidates;
    if (!first) throw misconfigured('obo.audience is not an issuer in resourceServers');
    if (others.length === 0) return first;
    const published = await targetServer.authorizationServers();
    const match = published.map((name) => candidates.find(({ issuer }) => issuer === name)).find(Boolean);
    if (match) return match;
    throw misconfigured(
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
      const resource = request.resource ?? canonicalizeUrl(request.targetServer.url);
      if (resource === undefined)
        throw misconfigured('the URL of the server is not a valid resource identifier');
      const assertionRequest = { ...request, resource, audience: authorizationServer.issuer };
      const { subject } = assertionRequest;
      const response = subject.withRefreshToken
        ? await postWithRefreshToken(
            parts,
            subject.withRefreshToken,
            (token) => idJagFields(assertionRequest, token),
            signal,
          )
        : await postGrant(parts, () => idJagFields(assertionRequest, subject.token), signal);
      const assertion = readIdJagResponse(response, {
        ...{
          clock,
          resource,
          issuer: settings.issuer,
          audience: authorizationServer.issuer,
          clientId: authorizationServer.clientId,
        },
      });
      // Sent twice it would be a replay there, however it came to us again.
      if (sentAssertions.get(assertion.jti)) {
        throw new ExchangeFault('OBO_EMPTY_RESPONSE', {
          hint: 'The provider returned the same assertion twice.',
        });
      }
      sentAssertions.set(assertion.jti, true);
      return exchangeAssertion(authorizationServer, assertion.text, request.prover, signal);
    },
  };
}

async function exchangeAssertion(
  authorizationServer: ResourceServerClient,
  assertion: string,
  prover: Prover | undefined,
  signal: AbortSignal,
): Promise<ExchangedToken> {
  try {
    const response = await postGrant(authorizationServer, () => assertionFields(assertion), signal, prover);
    return readTokenResponse(response, {
      clock: authorizationServer.clock,
      grant: 'jwt-bearer',
      isBound: prover !== undefined,
    });
  } catch (error) {
    throw error instanceof ExchangeFault ? toResourceServerFault(error) : error;
  }
}

/**
 * As the operator reads it, and without what only the identity provider may ask of its users: claims of somebody else's would become
 * part of their next sign-in there, and a consent that this grant has no page for would be asked for without end.
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

export const ID_JAG_TYPE = 'urn:ietf:params:oauth:token-type:id-jag';
const JWT_TYPE = 'oauth-id-jag+jwt';
const JWT_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const MAX_LENGTH = 32 * 1_024;
/** Clocks differ by no more. */
const TOLERANCE_S = 5;

interface ExpectedIdJag {
  readonly clock: Clock;
  /** Of the identity provider; undefined where only its endpoint is known. */
  readonly issuer: string | undefined;
  /** The resource's authorization server. */
  readonly audience: string;
  /** Ours there. */
  readonly clientId: string;
  readonly resource: string;
}

interface IdJag {
  readonly text: string;
  readonly jti: string;
}

/**
 * The assertion in an answer, or an ExchangeFault. It came from the provider itself, so its signature is left to who is meant by it; for
 * whom, for what and for how long it speaks is looked at here: one that was meant for somebody else goes nowhere.
 */
function readIdJagResponse(response: ProviderResponse, expected: ExpectedIdJag): IdJag {
  const { clock } = expected;
  const body = parseJsonObject(response.text);
  const { status } = response;
  if (status < 200 || status > 299 || body?.['error'] !== undefined) {
    throw toResponseFault(response, body, clock, 'token-exchange');
  }
  const refuse = (hint: string) => new ExchangeFault('OBO_EMPTY_RESPONSE', { status, hint });
  if (status !== 200 || !body) throw refuse('The token endpoint did not respond with JSON.');
  const { access_token: text, token_type: type, issued_token_type: issued } = body;
  if (typeof text !== 'string' || text.length > MAX_LENGTH || !JWT_PATTERN.test(text)) {
    throw refuse('The response does not contain an assertion.');
  }
  // What is no access token must say so: else something else was issued (draft, section 4.3.3; RFC 8693, section 2.2.1).
  if (issued !== ID_JAG_TYPE || typeof type !== 'string' || type.toUpperCase() !== 'N_A') {
    throw refuse('The issued token is not an ID-JAG: the provider may not offer it to this client.');
  }
  const [header, claims] = text
    .split('.')
    .map((part) => parseJsonObject(Buffer.from(part, 'base64url').toString()));
  const problem = findProblem(header, claims, expected);
  if (problem !== undefined) throw refuse(`The assertion does not match the request: ${problem}.`);
  return { text, jti: String(claims?.['jti']) };
}

type Claims = Readonly<Record<string, unknown>> | undefined;

/** What is wrong with it, in words of our own. */
function findProblem(header: Claims, claims: Claims, expected: ExpectedIdJag): string | undefined {
  if (!header || !claims) return 'it cannot be read';
  const { typ, alg } = header;
  if (typeof typ !== 'string' || typ.toLowerCase() !== JWT_TYPE) return `its typ is not ${JWT_TYPE}`;
  if (typeof alg !== 'string' || alg.toLowerCase() === 'none') return 'it is not signed';
  const { iss, sub, aud, client_id: clientId, resource, exp, jti } = claims;
  if (expected.issuer !== undefined && iss !== expected.issuer) return 'its iss is another issuer';
  if (singleText(aud) !== expected.audience) return 'its aud is not the authorization server';
  if (clientId !== expected.clientId)
    return 'its client_id is not the client configured for the authorization server';
  const expectedResource = canonicalizeUrl(expected.resource) ?? expected.resource;
  const claimedResource = singleText(resource);
  if (
    claimedResource === undefined ||
    (canonicalizeUrl(claimedResource) ?? claimedResource) !== expectedResource
  )
    return 'its resource is not the MCP server';
  if (typeof sub !== 'string' || sub === '') return 'its sub is missing';
  if (typeof jti !== 'string' || jti === '') return 'it has no jti';
  const now = expected.clock.now() / 1_000;
  if (typeof exp !== 'number' || exp <= now - TOLERANCE_S) return 'it has expired';
  return undefined;
}

/** One alone: with a second, somebody else could use it too. */
function singleText(value: unknown): string | undefined {
  const [first, ...others] = Array.isArray(value) ? (value as unknown[]) : [value];
  return others.length === 0 && typeof first === 'string' ? first : undefined;
}

type Field = readonly [name: string, value: string];

/** What is no token is not kept in the place of one. */
const MAX_TOKEN_LENGTH = 32 * 1_024;

/**
 * One form with a refresh token of the user's, while it is nobody else's to send. Some providers put another in its place: that one is stored
 * before anything else is done with the answer.
 */
async function postWithRefreshToken(
  parts: PostGrantParts,
  withRefreshToken: UseRefreshToken,
  buildFields: (token: HiddenText) => readonly Field[],
  signal: AbortSignal,
): Promise<ProviderResponse> {
  const { settings, endpoint, credential } = parts;
  // Beforehand: from here to the sending nothing is waited for.
  const [tokenEndpoint] = await Promise.all([endpoint.current(), credential.read()]);
  const use = await withRefreshToken(signal, async (borrowed) => {
    // It is good for one client at one place (RFC 6749, section 10.4), and nobody else is shown it.
    if (borrowed.endpoint !== tokenEndpoint.url || borrowed.clientId !== settings.clientId) {
      // The provider has moved since this sign-in. That is its user's to mend; told to the operator, it would stop everybody.
      if (settings.tokenEndpoint === undefined && borrowed.clientId === settings.clientId) {
        throw new ExchangeFault('OBO_REJECTED', { hint: 'The sign-in used a different token endpoint.' });
      }
      const hint = `identityProviders.${settings.name}: a refresh token is only sent to the token endpoint and by the client of its sign-in`;
      throw new ExchangeFault('OBO_MISCONFIGURED', { hint });
    }
    const response = await postGrant(parts, () => buildFields(borrowed.reveal()), signal);
    return { value: response, rotatedToken: readSuccessor(response), isInDoubt: response.status >= 500 };
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

/** Whatever else the answer holds: the one before it may be over. */
function readSuccessor({ status, text }: ProviderResponse): string | undefined {
  const token = status >= 200 && status <= 299 ? parseJsonObject(text)?.['refresh_token'] : undefined;
  const isToken = typeof token === 'string' && token !== '' && token.length <= MAX_TOKEN_LENGTH;
  return isToken ? token : undefined;
}
