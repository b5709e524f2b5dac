import type { Fetch } from '@behalf/kernel';
import type { ServerSnapshot } from '../../definitions/definition.ts';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import { getOrigin, isSafeUrl } from './addresses.ts';
import { type IssuerSettings, findIssuerEntry, listEndpointOrigins } from './issuers.ts';
import type { SignInTarget } from './signInTarget.ts';

/**
 * The egress for OAuth requests. It judges `configuredOrigins` by the trust in the server's own address, and every other origin as if a
 * user had entered it: the metadata of a server is chosen by the author of the server.
 */
export interface OAuthEgress {
  /** Honors `redirect` of each request. */
  fetchFor(server: ServerSnapshot, configuredOrigins: readonly string[]): Fetch;
  /** Rejects unless the server may send a browser to this URL. */
  checkUrl(server: ServerSnapshot, url: string, configuredOrigins: readonly string[]): Promise<void>;
  readError: ReadNetworkError;
}

/** The egress for one server and one of its authorization servers. */
export interface OAuthNetwork {
  /** `issuer`: the authorization server whose endpoints are requested. Null: only the server itself. */
  fetchFor(target: SignInTarget, issuer: string | null): Fetch;
  checkUrl(target: SignInTarget, issuer: string, url: string): Promise<void>;
  /** Whether the operator configured the origin of this issuer for this server. */
  isConfigured(target: SignInTarget, issuer: string): boolean;
  readError: ReadNetworkError;
}

export function createOAuthNetwork(egress: OAuthEgress, issuerSettings: () => IssuerSettings): OAuthNetwork {
  const originsFor = (target: SignInTarget, issuer: string | null) =>
    listConfiguredOrigins(target, issuerSettings(), issuer);
  return {
    fetchFor: (target, issuer) => egress.fetchFor(target.server, originsFor(target, issuer)),
    checkUrl: (target, issuer, url) => egress.checkUrl(target.server, url, originsFor(target, issuer)),
    isConfigured: (target, issuer) => originsFor(target, issuer).includes(new URL(issuer).origin),
    readError: egress.readError,
  };
}

/**
 * The origins that the operator opened for this server: its own, and those of the authorization server in the definition or in
 * `mcpSettings.issuers`. Origins that only metadata names never count: they must not lead to an address opened for another server.
 */
function listConfiguredOrigins(
  target: SignInTarget,
  issuerSettings: IssuerSettings,
  issuer: string | null,
): readonly string[] {
  const serverOrigin = getOrigin(target.url);
  if (issuer === null) return [serverOrigin];
  const { oauth, isOperatorDefined } = target;
  const definitionUrls = isOperatorDefined
    ? [oauth.issuer, oauth.authorizationUrl, oauth.tokenUrl, oauth.revocationUrl]
    : [];
  const issuerEntryUrls = findIssuerEntry(issuerSettings, issuer)
    ? [issuer, ...listEndpointOrigins(issuerSettings, issuer)]
    : [];
  return [serverOrigin, ...[...definitionUrls, ...issuerEntryUrls].filter(isSafeUrl).map(getOrigin)];
}

/** For requests with codes, tokens or secrets: a redirect would carry them to another server. */
export function withoutRedirects(fetch: Fetch): Fetch {
  return (url, init) => fetch(url, { ...init, redirect: 'error' });
}
