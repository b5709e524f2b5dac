import { type ExchangeTarget, envVariables, originOf, parseUrl } from '@behalf/contracts';
import type { ProviderSettings } from '../compile/textCompiler.ts';

/** Public information about the login provider: whether there is a secret, never the secret. */
export interface LoginProviderInfo {
  readonly issuer: string;
  /** Null: only bearer tokens are accepted; there is no browser sign-in. */
  readonly clientId: string | null;
  readonly hasSecret: boolean;
  readonly audience: string | null;
  readonly scopes: readonly string[];
}

interface LoginVariables {
  readonly OPENID_ISSUER?: string | undefined;
  readonly OPENID_CLIENT_ID?: string | undefined;
  readonly OPENID_CLIENT_SECRET?: string | undefined;
  readonly OPENID_AUDIENCE?: string | undefined;
  readonly OPENID_SCOPE?: string | undefined;
}

/** The entry of `identityProviders` for the login provider. Servers that name no provider use it. */
export const LOGIN_PROVIDER = 'login';

/** Reads the variables, before or after `env.ts`: an empty value counts as absent. Null without OpenID sign-in. */
export function readLoginProviderInfo(env: LoginVariables): LoginProviderInfo | null {
  const issuer = trimToUndefined(env.OPENID_ISSUER)?.replace(/\/\.well-known\/openid-configuration$/, '');
  if (issuer === undefined) return null;
  return {
    issuer,
    clientId: trimToUndefined(env.OPENID_CLIENT_ID) ?? null,
    hasSecret: trimToUndefined(env.OPENID_CLIENT_SECRET) !== undefined,
    audience: trimToUndefined(env.OPENID_AUDIENCE) ?? null,
    scopes: (env.OPENID_SCOPE ?? '').split(/\s+/).filter((scope) => scope !== ''),
  };
}

/** The scopes of the token for `{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}`. */
export function readGraphScopes(env: { readonly GRAPH_API_SCOPES?: string | undefined }): string {
  return trimToUndefined(env.GRAPH_API_SCOPES) ?? envVariables.GRAPH_API_SCOPES.default;
}

function trimToUndefined(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

/** The authority hosts of all clouds, including former names. */
const cloudByAuthority: ReadonlyMap<string, 'worldwide' | 'us' | 'cn' | 'de'> = new Map([
  ['login.microsoftonline.com', 'worldwide'],
  ['login.microsoft.com', 'worldwide'],
  ['login.windows.net', 'worldwide'],
  ['sts.windows.net', 'worldwide'],
  ['login.microsoftonline.us', 'us'],
  ['login-us.microsoftonline.com', 'us'],
  ['sts.microsoftonline.us', 'us'],
  ['login.partner.microsoftonline.cn', 'cn'],
  ['login.chinacloudapi.cn', 'cn'],
  ['sts.chinacloudapi.cn', 'cn'],
  ['login.microsoftonline.de', 'de'],
]);

/** Whether the URL is an Entra authority, so that scopes have Entra's meaning. */
export function isMicrosoftAuthority(url: string): boolean {
  const host = parseUrl(url)?.hostname.replace(/\.$/, '') ?? '';
  return cloudByAuthority.has(host) || host.endsWith('.ciamlogin.com');
}

/**
 * The Entra cloud of the URL; undefined for any other host, and for a URL that does not have the form of an Entra
 * authority.
 */
export function findMicrosoftCloud(url: string): string | undefined {
  const parsed = parseUrl(url);
  return parsed?.protocol === 'https:' ? cloudByAuthority.get(parsed.host) : undefined;
}

type ProviderUrls = Pick<ProviderSettings, 'authority' | 'issuer' | 'tokenEndpoint'>;

/**
 * Whether the provider is the login provider, at which the login client is registered. The login client's secret
 * must not be sent anywhere else.
 */
export function isLoginProvider(
  { authority, issuer, tokenEndpoint }: ProviderUrls,
  loginIssuer: string,
): boolean {
  return [authority, issuer, tokenEndpoint].every(
    (url) => url === undefined || isSameProvider(url, loginIssuer),
  );
}

function isSameProvider(url: string, loginIssuer: string): boolean {
  const origin = originOf(url);
  if (origin !== undefined && origin === originOf(loginIssuer)) return true;
  // Entra uses different hosts as issuer and as token endpoint.
  const cloud = findMicrosoftCloud(url);
  return cloud !== undefined && cloud === findMicrosoftCloud(loginIssuer);
}

/** The provider of a server's token exchange, as far as it decides which tokens are allowed. */
export interface ResolvedProvider {
  readonly name: string;
  readonly type: ProviderSettings['type'];
  /** Whether the provider is Entra, with any protocol. */
  readonly isMicrosoft: boolean;
  /** There is no entry for the provider. Only its issuer is known, which may be Entra under a custom domain. */
  readonly isDerived: boolean;
  readonly clientId: string | null;
  readonly targets: readonly ExchangeTarget[] | undefined;
  /** The issuers that accept `id-jag` assertions. */
  readonly resourceIssuers: readonly string[];
}

export type KnownLogin = Omit<LoginProviderInfo, 'hasSecret'>;

/** `unknown`: the server names a provider that does not exist. `none`: it names none, and there is no login client. */
export function resolveProvider(
  provider: string | undefined,
  providers: readonly ProviderSettings[],
  login: KnownLogin | null,
): ResolvedProvider | 'unknown' | 'none' {
  const entry = providers.find(({ name }) => name === (provider ?? LOGIN_PROVIDER));
  if (entry) {
    const { name, type, targets } = entry;
    const resourceIssuers = (entry.resourceServers ?? []).map(({ issuer }) => issuer);
    const authorityUrl = entry.authority ?? entry.tokenEndpoint ?? entry.issuer ?? login?.issuer ?? '';
    const isMicrosoft = type === 'entra' || isMicrosoftAuthority(authorityUrl);
    const clientId = entry.clientId ?? login?.clientId ?? null;
    return { name, type, isMicrosoft, isDerived: false, clientId, targets, resourceIssuers };
  }
  if (provider !== undefined) return 'unknown';
  if (!login || login.clientId === null) return 'none';
  const isMicrosoft = isMicrosoftAuthority(login.issuer);
  const type = findMicrosoftCloud(login.issuer) === undefined ? 'jwt-bearer' : 'entra';
  const { clientId } = login;
  return {
    name: LOGIN_PROVIDER,
    type,
    isMicrosoft,
    isDerived: true,
    clientId,
    targets: undefined,
    resourceIssuers: [],
  };
}
