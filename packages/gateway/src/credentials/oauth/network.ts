import type { Fetch } from '@behalf/kernel';
import type { ServerSnapshot } from '../../servers/definition.ts';
import type { ReadNetworkError } from '../../upstream/upstreamError.ts';
import { getOrigin, isSafeUrl } from './addresses.ts';
import { type IssuerSettings, findIssuerEntry, listEndpointOrigins } from './issuers.ts';
import type { SignInTarget } from './signInTarget.ts';

/**
 * The door out, as sign-ins need it. Origins in `vouched` are judged on the word that the server's own address rests on; every
 * other one as if a user had named it, because a server that is asked chooses what it answers.
 */
export interface OAuthEgress {
  /** `redirect` of a request is honoured; nothing else leads anywhere else. */
  fetchFor(server: ServerSnapshot, configuredOrigins: readonly string[]): Fetch;
  /** Rejects unless the server may name this address: a browser is sent there, and no request of ours. */
  checkUrl(server: ServerSnapshot, url: string, configuredOrigins: readonly string[]): Promise<void>;
  readError: ReadNetworkError;
}

/** The same for one server and one authorization server of it. */
export interface OAuthNetwork {
  /** `issuer`: whose endpoints are asked; null: the server alone. */
  fetchFor(target: SignInTarget, issuer: string | null): Fetch;
  checkUrl(target: SignInTarget, issuer: string, url: string): Promise<void>;
  /** Whether the operator's word opens the way to this issuer for this server. */
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
 * The origins that the operator opened for this server: its own, and where its authorization server is as far as the definition or
 * `mcpSettings.issuers` writes that down. `issuer`: the one that is asked; null: the server alone. Whatever the server or its
 * authorization server names besides is somebody else's word, and must not lead to an address that was opened for this one.
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

/** Where codes, tokens and secrets are sent: a redirect would carry them on to somebody else. */
export function withoutRedirects(fetch: Fetch): Fetch {
  return (url, init) => fetch(url, { ...init, redirect: 'error' });
}
