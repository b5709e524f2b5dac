import { envVariables, parseUrl } from '@behalf/contracts';

/** What is known of the provider people sign in with. Whether there is a secret, never which. */
export interface LoginProviderInfo {
  readonly issuer: string;
  /** Null: bearer tokens alone, nobody signs in with a browser. */
  readonly clientId: string | null;
  readonly hasSecret: boolean;
  readonly audience: string | null;
  readonly scopes: readonly string[];
}

export interface LoginVariables {
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
