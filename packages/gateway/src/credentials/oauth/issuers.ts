import { type OAuthIssuer, parseUrl } from '@behalf/contracts';
import { isMicrosoftAuthority } from '@behalf/settings';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/upstream.ts';
import { areRelatedHosts, getHost, getOrigin } from './addresses.ts';
import type { IssuerProfile } from './grantContext.ts';
import type { AuthorizationServerMetadata } from './metadata.ts';
import type { OperatorIssuers } from './operatorIssuers.ts';
import { type SignInTarget, createUnavailableError } from './signInTarget.ts';

export interface IssuerRules {
  /** Whether this server may name this issuer at all. */
  isIssuerAllowed(target: SignInTarget, issuer: string): Promise<boolean>;
  /** The same without asking anybody but the cache: of what was given before, by whoever is at these addresses. */
  isGrantAllowed(target: SignInTarget, issuer: string, endpoints: readonly string[]): Promise<boolean>;
  /**
   * Rejects with MCP_AUTHORIZATION_SERVER_REFUSED unless tokens of this authorization server may go to this server, and with
   * UPSTREAM_AUTH_UNAVAILABLE while that cannot be said.
   */
  requireAllowed(target: SignInTarget, asMetadata: AuthorizationServerMetadata): Promise<void>;
  /** Whether users are told whose tokens go where before they go on. */
  requiresConfirmation(target: SignInTarget, asMetadata: AuthorizationServerMetadata): boolean;
}

interface IssuerRuleParts {
  readonly issuerSettings: () => IssuerSettings;
  readonly operatorIssuers: OperatorIssuers;
  readonly log: Log;
}

/**
 * Whose tokens may be sent to whom. A hostile server can name an honest authorization server in its metadata. If that one ignores
 * RFC 8707, the token it gives is good elsewhere, and would be sent to the attacker.
 */
export function createIssuerRules({ issuerSettings, operatorIssuers, log }: IssuerRuleParts): IssuerRules {
  function refuse(target: SignInTarget, reason: string): never {
    log('oauth_issuer_refused', { server: target.server.name, reason });
    throw new GatewayError('MCP_AUTHORIZATION_SERVER_REFUSED');
  }

  const isOperatorApproved = (target: SignInTarget, issuer: string) =>
    target.isOperatorDefined || isOriginListed(issuerSettings(), issuer, getOrigin(target.canonicalUrl));

  /** By place and not by name: whoever may choose a name would choose the one that is not guarded. */
  function isProtected(urls: readonly string[], operatorUrls: readonly string[]): boolean {
    const identityAndOperatorUrls = [...issuerSettings().identityUrls, ...operatorUrls];
    // Who may have endpoints elsewhere has them guarded there as well.
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
   * `unknown`: somebody of the operator's never said who their authorization server is, so it may be this one. A server that signs
   * users in at its own place takes nothing of anybody else's, and need not wait for them.
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
      const endpoints = listEndpoints(asMetadata);
      const origins = new Set([
        getOrigin(asMetadata.issuer),
        ...listEndpointOrigins(issuerSettings(), asMetadata.issuer),
      ]);
      const configuredUrls = target.isOperatorDefined ? listConfiguredUrls(target) : [];
      const unexpectedUrls = endpoints.filter(
        (url) => !origins.has(getOrigin(url)) && !configuredUrls.includes(url),
      );
      if (unexpectedUrls.length > 0) refuse(target, 'endpoint_origin');
      if (isOperatorApproved(target, asMetadata.issuer)) return;
      const classification = await classifyIssuer(target, [asMetadata.issuer, ...endpoints]);
      if (classification === 'guarded') refuse(target, 'issuer_guarded');
      if (classification === 'unknown') {
        log('oauth_issuer_check_incomplete', { server: target.server.name });
        throw createUnavailableError();
      }
      // Without it nothing says for whom the token is: for which servers that is right, the operator says.
      if (omitsResource(issuerSettings(), asMetadata.issuer)) refuse(target, 'resource_omitted');
    },
    requiresConfirmation(target, asMetadata) {
      const { issuer } = asMetadata;
      const { canonicalUrl } = target;
      if (isOriginListed(issuerSettings(), issuer, getOrigin(canonicalUrl))) return false;
      const { authorizationUrl, tokenUrl } = target.oauth;
      const isConfiguredIssuer =
        target.oauth.issuer === issuer || (authorizationUrl ?? tokenUrl) !== undefined;
      if (target.isOperatorDefined && isConfiguredIssuer) return false;
      const hosts = [issuer, asMetadata.authorizationEndpoint ?? issuer].map(getHost);
      return hosts.some((host) => !areRelatedHosts(host, getHost(canonicalUrl)));
    },
  };
}

/** Every address that a code, a token, a secret or a person is sent to. */
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

/** What the operator says about authorization servers, as the configuration has it now. */
export interface IssuerSettings {
  /** `mcpSettings.issuers`. */
  readonly issuers: Readonly<Record<string, OAuthIssuer>>;
  /** Where people sign in to this gateway, and every address of `identityProviders`. */
  readonly identityUrls: readonly string[];
}

export function findIssuerEntry({ issuers }: IssuerSettings, issuer: string): OAuthIssuer | undefined {
  return Object.hasOwn(issuers, issuer) ? issuers[issuer] : undefined;
}

/** Whether the operator lists this very pair. */
export function isOriginListed(
  issuerSettings: IssuerSettings,
  issuer: string,
  serverOrigin: string,
): boolean {
  return (
    findIssuerEntry(issuerSettings, issuer)?.origins.some((origin) => toOrigin(origin) === serverOrigin) ??
    false
  );
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

/** An entry may be written with a slash at its end, or as a whole address. */
function toOrigin(entry: string): string {
  return parseUrl(entry)?.origin ?? entry;
}

/**
 * Where an authorization server really is: one goes by several names. Its path says nothing (`/common`, `/<tenant>`), a dot at the
 * end of its host is the same host, and Entra answers under hosts of its own choice.
 */
function toIssuerLocation(url: string): string {
  if (isMicrosoftAuthority(url)) return 'entra';
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${hostname.replace(/\.$/, '')}:${port}`;
}
