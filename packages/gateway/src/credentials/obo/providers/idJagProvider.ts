import type { Prover } from '../../dpop/dpop.ts';
import { canonicalizeUrl } from '../../oauth/canonicalUrl.ts';
import { createLruMap } from '../../lruMap.ts';
import { ExchangeFault } from '../exchangeFault.ts';
import type { ExchangedToken, ExchangeProvider, ExchangeRequest } from '../exchangeProvider.ts';
import type { SubjectKind } from '../subject.ts';
import { assertionFields, idJagFields } from './exchangeForm.ts';
import { postWithRefreshToken } from './postWithRefreshToken.ts';
import { readIdJagResponse } from './idJagResponse.ts';
import { postGrant, type PostGrantParts } from './postGrant.ts';
import { createProviderIdentity, type ProviderParts } from './providerParts.ts';
import { readTokenResponse } from './tokenResponse.ts';

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

export interface IdJagProviderParts extends ProviderParts {
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
