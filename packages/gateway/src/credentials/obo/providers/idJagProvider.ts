import type { Prover } from '../../dpop/dpop.ts';
import { canonicalizeUrl } from '../../oauth/canonicalUrl.ts';
import { createLruMap } from '../../lruMap.ts';
import { ExchangeFault } from '../exchangeFault.ts';
import type { ExchangedToken, ExchangeProvider, ExchangeRequest } from '../exchangeProvider.ts';
import type { SubjectKind } from '../subject.ts';
import { assertionFields, idJagFields } from './exchangeForm.ts';
import { lentGrant } from './lentGrant.ts';
import { readIdJag } from './idJagAnswer.ts';
import { postGrant, type PostParts } from './postGrant.ts';
import { createIdentity, type ProviderParts } from './providerParts.ts';
import { readToken } from './tokenAnswer.ts';

/** What we can do, as it is told to servers (MCP extension). */
export const ENTERPRISE_MANAGED = 'io.modelcontextprotocol/enterprise-managed-authorization';
/** How many assertions are remembered as sent. One lives for minutes. */
const MOST_SENT = 10_000;

/** What `subject` of an entry says. */
const taken = {
  id_token: 'id_token',
  refresh_token: 'refresh_token',
  auto: 'id_or_refresh_token',
} as const satisfies Record<string, SubjectKind>;

/** An authorization server of the list, ready to be asked. */
export interface ResourceServer extends PostParts {
  readonly issuer: string;
  readonly clientId: string;
}

export interface IdJagParts extends ProviderParts {
  readonly resourceServers: readonly ResourceServer[];
  /** Of several, the one that the server's definition names. */
  readonly audience: string | undefined;
}

/**
 * Enterprise-managed authorization: the identity provider asserts who the user is to the authorization server of the resource
 * (draft-ietf-oauth-identity-assertion-authz-grant), and nobody is sent anywhere. The assertion is used once and kept nowhere: whoever
 * repeats the exchange repeats both legs.
 */
export function createIdJagProvider(parts: IdJagParts): ExchangeProvider {
  const { settings, clock, resourceServers, audience } = parts;
  const chosen =
    audience === undefined ? undefined : resourceServers.find(({ issuer }) => issuer === audience);
  const usable = chosen ? [chosen] : audience === undefined ? resourceServers : [];
  const identity = createIdentity({ ...parts, legs: usable }, 'id-jag');
  const sent = createLruMap<true>(MOST_SENT);

  const misconfigured = (hint: string) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${settings.name}: ${hint}` });

  /** Of several, the first that the server itself names. What it names besides is nobody's business. */
  async function serverOf({ place }: ExchangeRequest): Promise<ResourceServer> {
    const [only, ...others] = usable;
    if (!only) throw misconfigured('obo.audience names an issuer that resourceServers do not have');
    if (others.length === 0) return only;
    const published = await place.authorizationServers();
    const found = published.map((name) => usable.find(({ issuer }) => issuer === name)).find(Boolean);
    if (found) return found;
    throw misconfigured(
      'the server names none of resourceServers as its authorization server; set obo.audience',
    );
  }

  return {
    get identity() {
      return identity();
    },
    takes: taken[settings.subject ?? 'id_token'],
    binds: settings.dpop === 'require',
    extension: ENTERPRISE_MANAGED,
    async exchange(request, signal) {
      const at = await serverOf(request);
      const resource = request.resource ?? canonicalizeUrl(request.place.url);
      if (resource === undefined) throw misconfigured('the address of the server names no resource');
      const wanted = { ...request, resource, audience: at.issuer };
      const { subject } = wanted;
      const first = subject.lend
        ? await lentGrant(parts, subject.lend, (token) => idJagFields(wanted, token), signal)
        : await postGrant(parts, () => idJagFields(wanted, subject.token), signal);
      const assertion = readIdJag(first, {
        ...{ clock, resource, issuer: settings.issuer, audience: at.issuer, clientId: at.clientId },
      });
      // Sent twice it would be a replay there, however it came to us again.
      if (sent.get(assertion.jti)) {
        throw new ExchangeFault('OBO_EMPTY_RESPONSE', {
          hint: 'The provider gave an assertion for the second time.',
        });
      }
      sent.set(assertion.jti, true);
      return secondLeg(at, assertion.text, request.prover, signal);
    },
  };
}

async function secondLeg(
  at: ResourceServer,
  assertion: string,
  prover: Prover | undefined,
  signal: AbortSignal,
): Promise<ExchangedToken> {
  try {
    const answer = await postGrant(at, () => assertionFields(assertion), signal, prover);
    return readToken(answer, { clock: at.clock, grant: 'jwt-bearer', isBound: prover !== undefined });
  } catch (error) {
    throw error instanceof ExchangeFault ? ofResourceServer(error) : error;
  }
}

/**
 * As the operator reads it, and without what only the identity provider may ask of its users: claims of somebody else's would become
 * part of their next sign-in there, and a consent that this grant has no page for would be asked for without end.
 */
function ofResourceServer({ code, detail }: ExchangeFault): ExchangeFault {
  const asksUser = code === 'OBO_CONSENT_REQUIRED';
  const hint = asksUser ? 'It wants the user to be there, which this grant has no place for.' : detail.hint;
  return new ExchangeFault(asksUser ? 'OBO_REJECTED' : code, {
    ...detail,
    claims: undefined,
    hint: `At the resource’s authorization server: ${hint ?? 'the assertion was not accepted.'}`,
  });
}
