import { type OAuthIssuer, parseUrl } from '@behalf/contracts';
import { isMicrosoftAuthority } from '@behalf/settings';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/upstream.ts';
import { areRelatedHosts, getHost, getOrigin } from './addresses.ts';
import type { IssuerProfile } from './grantContext.ts';
import type { AuthorizationServerMetadata } from './metadata.ts';
import type { OperatorIssuers } from './operatorIssuers.ts';
import { type SignInTarget, createUnavailableError } from './signInTarget.ts';

/**
 * Which authorization server may issue tokens for which MCP server. The attack: a hostile MCP server names an honest authorization
 * server in its metadata. If that server ignores RFC 8707, its token is valid elsewhere, and the gateway would send it to the attacker.
 */
export interface IssuerRules {
  /** Whether the server may name this issuer. */
  isIssuerAllowed(target: SignInTarget, issuer: string): Promise<boolean>;
  /** The same check for an existing grant, with its endpoints. Uses cached data only. */
  isGrantAllowed(target: SignInTarget, issuer: string, endpoints: readonly string[]): Promise<boolean>;
  /**
   * Rejects with MCP_AUTHORIZATION_SERVER_REFUSED unless tokens of this authorization server may be sent to the server, and with
   * UPSTREAM_AUTH_UNAVAILABLE if that cannot be determined at the moment.
   */
  requireAllowed(target: SignInTarget, asMetadata: AuthorizationServerMetadata): Promise<void>;
  /** Whether the user must confirm which host's tokens are sent to which server. */
  requiresConfirmation(target: SignInTarget, asMetadata: AuthorizationServerMetadata): boolean;
}

interface IssuerRuleParts {
  readonly issuerSettings: () => IssuerSettings;
  readonly operatorIssuers: OperatorIssuers;
  readonly log: Log;
}

export function createIssuerRules({ issuerSettings, operatorIssuers, log }: IssuerRuleParts): IssuerRules {
  function refuse(target: SignInTarget, reason: string): never {
    log('oauth_issuer_refused', { server: target.server.name, reason });
    throw new GatewayError('MCP_AUTHORIZATION_SERVER_REFUSED');
  }

  const isOperatorApproved = (target: SignInTarget, issuer: string) =>
    target.isOperatorDefined || isOriginListed(issuerSettings(), issuer, getOrigin(target.canonicalUrl));

  /**
   * Whether a URL belongs to the login or to an authorization server of the operator's servers. Compares locations, not names: an
   * attacker would choose a name that is not listed.
   */
  function isProtected(urls: readonly string[], operatorUrls: readonly string[]): boolean {
    const identityAndOperatorUrls = [...issuerSettings().identityUrls, ...operatorUrls];
    const protectedUrls = [
      ...identityAndOperatorUrls,
      ...identityAndOperatorUrls.flatMap((url) => listEndpointOrigins(issuerSettings(), url)),
    ];
    const protectedLocations = new Set(
      protectedUrls.filter((url) => parseUrl(url) !== undefined).map(toIssuerLocation),
    );
    return urls.some((url) => protectedLocations.has(toIssuerLocation(url)));
  }

  /**
   * `unknown`: a server of the operator never responded, so its authorization server may be this one. An authorization server on the
   * host of the MCP server itself is free in any case: its tokens belong to the same owner.
   */
  async function classifyIssuer(
    target: SignInTarget,
    urls: readonly string[],
  ): Promise<'free' | 'guarded' | 'unknown'> {
    const { urls: operatorUrls, isComplete } = await operatorIssuers.list();
    if (isProtected(urls, operatorUrls)) return 'guarded';
    const serverHost = getHost(target.canonicalUrl);
    return isComplete || urls.every((url) => areRelatedHosts(getHost(url), serverHost)) ? 'free' : 'unknown';
  }

  return {
    async isIssuerAllowed(target, issuer) {
      return isOperatorApproved(target, issuer) || (await classifyIssuer(target, [issuer])) === 'free';
    },
    async isGrantAllowed(target, issuer, endpoints) {
      if (isOperatorApproved(target, issuer)) return true;
      return !isProtected([issuer, ...endpoints], (await operatorIssuers.readCached()).urls);
    },
    async requireAllowed(target, asMetadata) {
      const { issuer } = asMetadata;
      const endpoints = listEndpoints(asMetadata);
      const origins = new Set([getOrigin(issuer), ...listEndpointOrigins(issuerSettings(), issuer)]);
      const configuredUrls = target.isOperatorDefined ? listConfiguredUrls(target) : [];
      const hasUnexpectedUrl = endpoints.some(
        (url) => !origins.has(getOrigin(url)) && !configuredUrls.includes(url),
      );
      if (hasUnexpectedUrl) refuse(target, 'endpoint_origin');
      if (isOperatorApproved(target, issuer)) return;
      const classification = await classifyIssuer(target, [issuer, ...endpoints]);
      if (classification === 'guarded') refuse(target, 'issuer_guarded');
      if (classification === 'unknown') {
        log('oauth_issuer_check_incomplete', { server: target.server.name });
        throw createUnavailableError();
      }
      // Without `resource` the token has no audience. Only the operator can decide which servers may receive such a token.
      if (omitsResource(issuerSettings(), issuer)) refuse(target, 'resource_omitted');
    },
    requiresConfirmation(target, { issuer, authorizationEndpoint }) {
      const { canonicalUrl } = target;
      if (isOriginListed(issuerSettings(), issuer, getOrigin(canonicalUrl))) return false;
      const { authorizationUrl, tokenUrl } = target.oauth;
      const isConfiguredIssuer =
        target.oauth.issuer === issuer || (authorizationUrl ?? tokenUrl) !== undefined;
      if (target.isOperatorDefined && isConfiguredIssuer) return false;
      const hosts = [issuer, authorizationEndpoint ?? issuer].map(getHost);
      return hosts.some((host) => !areRelatedHosts(host, getHost(canonicalUrl)));
    },
  };
}

/** Every URL that receives a code, a token, a secret or the browser. */
function listEndpoints(asMetadata: AuthorizationServerMetadata): string[] {
  return [
    asMetadata.authorizationEndpoint,
    asMetadata.tokenEndpoint,
    asMetadata.registrationEndpoint,
    asMetadata.revocationEndpoint,
  ].filter((url) => url !== null);
}

function listConfiguredUrls({ oauth }: SignInTarget): string[] {
  return [oauth.authorizationUrl, oauth.tokenUrl, oauth.revocationUrl].filter((url) => url !== undefined);
}

/** The operator's settings for authorization servers, from the current configuration. */
export interface IssuerSettings {
  /** `mcpSettings.issuers`. */
  readonly issuers: Readonly<Record<string, OAuthIssuer>>;
  /** The issuer of the login, and every URL in `identityProviders`. */
  readonly identityUrls: readonly string[];
}

export function findIssuerEntry({ issuers }: IssuerSettings, issuer: string): OAuthIssuer | undefined {
  return Object.hasOwn(issuers, issuer) ? issuers[issuer] : undefined;
}

/** Whether the operator allows this server origin to receive tokens of this issuer. */
export function isOriginListed(
  issuerSettings: IssuerSettings,
  issuer: string,
  serverOrigin: string,
): boolean {
  const origins = findIssuerEntry(issuerSettings, issuer)?.origins ?? [];
  return origins.some((origin) => toOrigin(origin) === serverOrigin);
}

export function listEndpointOrigins(issuerSettings: IssuerSettings, issuer: string): readonly string[] {
  return findIssuerEntry(issuerSettings, issuer)?.endpointOrigins.map(toOrigin) ?? [];
}

export function toIssuerProfile(issuerSettings: IssuerSettings, issuer: string): IssuerProfile {
  const entry = findIssuerEntry(issuerSettings, issuer);
  return {
    rotationGraceMs: (entry?.rotationGraceSeconds ?? 0) * 1_000,
    revokeOnReplace: entry?.revokeOnReplace ?? 'never',
  };
}

export function assumesS256(issuerSettings: IssuerSettings, issuer: string): boolean {
  const entry = findIssuerEntry(issuerSettings, issuer);
  return entry?.pkce === 'assume-s256' || entry?.profile === 'entra';
}

export function omitsResource(issuerSettings: IssuerSettings, issuer: string): boolean {
  const entry = findIssuerEntry(issuerSettings, issuer);
  return (entry?.resource ?? (entry?.profile === 'entra' ? 'omit' : 'send')) === 'omit';
}

/** An entry may end with a slash, or contain a path. */
function toOrigin(entry: string): string {
  return parseUrl(entry)?.origin ?? entry;
}

/**
 * The location of an authorization server, which can have several names. The path does not count (`/common`, `/<tenant>`), a trailing
 * dot of the host neither, and all Entra hosts are one location.
 */
function toIssuerLocation(url: string): string {
  if (isMicrosoftAuthority(url)) return 'entra';
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${hostname.replace(/\.$/, '')}:${port}`;
}
