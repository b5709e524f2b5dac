import { type ExchangeTarget, envVariables, originOf, parseUrl } from '@behalf/contracts';
import type { ProviderSettings } from '../compile/textCompiler.ts';

/** What is known of the provider people sign in with. Whether there is a secret, never which. */
export interface LoginProviderInfo {
  readonly issuer: string;
  /** Null: bearer tokens alone, nobody signs in with a browser. */
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

/** The entry of `identityProviders` that says more about the provider people sign in with. */
export const LOGIN_PROVIDER = 'login';

/** From the environment, raw or read: blank means absent in both. Null when nobody signs in by OpenID. */
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

/** What the token behind `{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}` is asked for with. */
export function readGraphScopes(env: { readonly GRAPH_API_SCOPES?: string | undefined }): string {
  return trimToUndefined(env.GRAPH_API_SCOPES) ?? envVariables.GRAPH_API_SCOPES.default;
}

function trimToUndefined(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

/** Of all clouds, also the names of old. */
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

/** Whether Entra answers there, so that scopes mean what they mean to Entra. */
export function isMicrosoftAuthority(url: string): boolean {
  const host = parseUrl(url)?.hostname.replace(/\.$/, '') ?? '';
  return cloudByAuthority.has(host) || host.endsWith('.ciamlogin.com');
}

/** Whose Entra answers there; undefined for any other host, and for one of these that is not reached as Entra is. */
export function findMicrosoftCloud(url: string): string | undefined {
  const parsed = parseUrl(url);
  return parsed?.protocol === 'https:' ? cloudByAuthority.get(parsed.host) : undefined;
}

type ProviderUrls = Pick<ProviderSettings, 'authority' | 'issuer' | 'tokenEndpoint'>;

/**
 * Whether a provider is where people sign in, so that the login's client is known there. Anywhere else its id would be
 * nobody's, and its secret would be told to a stranger.
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
  // Entra goes by several names: one that issues tokens, another that gives them.
  const cloud = findMicrosoftCloud(url);
  return cloud !== undefined && cloud === findMicrosoftCloud(loginIssuer);
}

/** Which provider a server's tokens are exchanged at, as far as it decides what may be asked for. */
export interface ResolvedProvider {
  readonly name: string;
  readonly type: ProviderSettings['type'];
  /** Entra answers, whatever way it is spoken to. */
  readonly isMicrosoft: boolean;
  /** Nobody described it: it is known by its issuer alone, which may be Entra under a name of the customer's. */
  readonly isDerived: boolean;
  readonly clientId: string | null;
  readonly targets: readonly ExchangeTarget[] | undefined;
  /** Issuers that take assertions of type `id-jag`. */
  readonly resourceIssuers: readonly string[];
}

export type KnownLogin = Omit<LoginProviderInfo, 'hasSecret'>;

/** `unknown`: the server names one that is not there. `none`: it names none, and we are no client of the login's. */
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
