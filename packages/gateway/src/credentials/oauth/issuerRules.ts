import { parseUrl } from '@behalf/contracts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/parts.ts';
import type { AuthorizationServer } from './discovery/authorizationServer.ts';
import { guardedPlace } from './guardedPlace.ts';
import { endpointOriginsOf, isListed, omitsResource, type IssuerBook } from './issuerBook.ts';
import type { OperatorIssuers } from './operatorIssuers.ts';
import { areRelatedHosts } from './relatedHosts.ts';
import { hostOf, originOf } from './safeUrl.ts';
import { authorizationServerAway } from './signInProblem.ts';
import type { SignInTarget } from './signInTarget.ts';

export interface IssuerRules {
  /** Whether this server may name this issuer at all. */
  mayName(target: SignInTarget, issuer: string): Promise<boolean>;
  /** The same without asking anybody but the cache: of what was given before, by whoever is at these addresses. */
  mayStillName(target: SignInTarget, issuer: string, endpoints: readonly string[]): Promise<boolean>;
  /**
   * Rejects with MCP_AUTHORIZATION_SERVER_REFUSED unless tokens of this authorization server may go to this server, and with
   * UPSTREAM_AUTH_UNAVAILABLE while that cannot be said.
   */
  check(target: SignInTarget, as: AuthorizationServer): Promise<void>;
  /** Whether users are told whose tokens go where before they go on. */
  mustAsk(target: SignInTarget, as: AuthorizationServer): boolean;
}

export interface IssuerRuleParts {
  readonly book: () => IssuerBook;
  readonly operatorIssuers: OperatorIssuers;
  readonly log: Log;
}

/**
 * Whose tokens may be sent to whom. A hostile server can name an honest authorization server in its metadata. If that one ignores
 * RFC 8707, the token it gives is good elsewhere, and would be sent to the attacker.
 */
export function createIssuerRules({ book, operatorIssuers, log }: IssuerRuleParts): IssuerRules {
  function refuse(target: SignInTarget, reason: string): never {
    log('oauth_issuer_refused', { server: target.server.name, reason });
    throw new GatewayError('MCP_AUTHORIZATION_SERVER_REFUSED');
  }

  const isVouchedFor = (target: SignInTarget, issuer: string) =>
    target.isOperators || isListed(book(), issuer, originOf(target.canonicalUrl));

  /** By place and not by name: whoever may choose a name would choose the one that is not guarded. */
  function isAmong(urls: readonly string[], operators: readonly string[]): boolean {
    const named = [...book().identityUrls, ...operators];
    // Who may have endpoints elsewhere has them guarded there as well.
    const guarded = [...named, ...named.flatMap((url) => endpointOriginsOf(book(), url))];
    const places = new Set(guarded.filter((url) => parseUrl(url) !== undefined).map(guardedPlace));
    return urls.some((url) => places.has(guardedPlace(url)));
  }

  /**
   * `unknown`: somebody of the operator's never said who their authorization server is, so it may be this one. A server that signs
   * users in at its own place takes nothing of anybody else's, and need not wait for them.
   */
  async function judged(
    target: SignInTarget,
    urls: readonly string[],
  ): Promise<'free' | 'guarded' | 'unknown'> {
    const { urls: operators, isComplete } = await operatorIssuers.all();
    if (isAmong(urls, operators)) return 'guarded';
    const own = hostOf(target.canonicalUrl);
    return isComplete || urls.every((url) => areRelatedHosts(hostOf(url), own)) ? 'free' : 'unknown';
  }

  return {
    async mayName(target, issuer) {
      return isVouchedFor(target, issuer) || (await judged(target, [issuer])) === 'free';
    },
    async mayStillName(target, issuer, endpoints) {
      if (isVouchedFor(target, issuer)) return true;
      return !isAmong([issuer, ...endpoints], (await operatorIssuers.known()).urls);
    },
    async check(target, as) {
      const endpoints = endpointsOf(as);
      const origins = new Set([originOf(as.issuer), ...endpointOriginsOf(book(), as.issuer)]);
      const written = target.isOperators ? writtenDown(target) : [];
      const strange = endpoints.filter((url) => !origins.has(originOf(url)) && !written.includes(url));
      if (strange.length > 0) refuse(target, 'endpoint_origin');
      if (isVouchedFor(target, as.issuer)) return;
      const verdict = await judged(target, [as.issuer, ...endpoints]);
      if (verdict === 'guarded') refuse(target, 'issuer_guarded');
      if (verdict === 'unknown') {
        log('oauth_issuer_unjudged', { server: target.server.name });
        throw authorizationServerAway();
      }
      // Without it nothing says for whom the token is: for which servers that is right, the operator says.
      if (omitsResource(book(), as.issuer)) refuse(target, 'resource_omitted');
    },
    mustAsk(target, as) {
      const { issuer } = as;
      const { canonicalUrl } = target;
      if (isListed(book(), issuer, originOf(canonicalUrl))) return false;
      const { authorizationUrl, tokenUrl } = target.oauth;
      const isWritten = target.oauth.issuer === issuer || (authorizationUrl ?? tokenUrl) !== undefined;
      if (target.isOperators && isWritten) return false;
      const hosts = [issuer, as.authorizationEndpoint ?? issuer].map(hostOf);
      return hosts.some((host) => !areRelatedHosts(host, hostOf(canonicalUrl)));
    },
  };
}

/** Every address that a code, a token, a secret or a person is sent to. */
function endpointsOf(as: AuthorizationServer): string[] {
  return [as.authorizationEndpoint, as.tokenEndpoint, as.registrationEndpoint, as.revocationEndpoint].filter(
    (url) => url !== null,
  );
}

function writtenDown({ oauth }: SignInTarget): string[] {
  return [oauth.authorizationUrl, oauth.tokenUrl, oauth.revocationUrl].filter((url) => url !== undefined);
}
