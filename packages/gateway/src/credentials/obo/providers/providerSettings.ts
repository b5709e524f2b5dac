import { type ResourceAuthorizationServer, parseUrl } from '@behalf/contracts';
import { LOGIN_PROVIDER, type ProviderSettings, findMicrosoftCloud, isLoginProvider } from '@behalf/settings';

/** The client that users sign in with (`OPENID_*`). */
export interface LoginClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
}

/** The settings of a provider with all defaults filled in. */
export interface EffectiveSettings extends ProviderSettings {
  /** The provider has no entry: it is derived from `OPENID_*` and behaves as LibreChat configurations expect. */
  readonly isDerived: boolean;
}

/** All providers by name. The login provider is always present if a login is configured. */
export function resolveProviderSettings(
  declared: readonly ProviderSettings[],
  login: LoginClient | null,
): ReadonlyMap<string, EffectiveSettings> {
  const settingsByName = new Map(declared.map((entry) => [entry.name, fillDefaults(entry, login)]));
  if (login && !settingsByName.has(LOGIN_PROVIDER)) {
    const type = findMicrosoftCloud(login.issuer) === undefined ? 'jwt-bearer' : 'entra';
    const derived = fillDefaults({ name: LOGIN_PROVIDER, type }, login);
    settingsByName.set(LOGIN_PROVIDER, { ...derived, isDerived: true });
  }
  return settingsByName;
}

type ResourceServerSettings = EffectiveSettings & Pick<ResourceAuthorizationServer, 'issuer' | 'clientId'>;

/** The authorization servers of an `id-jag` entry as token endpoints that accept a JWT bearer assertion. */
export function resolveResourceServers({
  name,
  resourceServers = [],
}: ProviderSettings): ResourceServerSettings[] {
  return resourceServers.map((server, index) => ({
    ...server,
    ...{ name: `${name}.resourceServers[${index}]`, type: 'jwt-bearer', isDerived: false },
  }));
}

function fillDefaults(entry: ProviderSettings, login: LoginClient | null): EffectiveSettings {
  const { authority } = entry;
  // Only the login provider receives the login client's secret.
  const loginClient = login && isLoginProvider(entry, login.issuer) ? login : null;
  const clientId = entry.clientId ?? loginClient?.clientId;
  const hasNoAddress =
    entry.issuer === undefined && entry.tokenEndpoint === undefined && authority === undefined;
  const issuer = hasNoAddress ? login?.issuer : entry.issuer;
  const address = authority ?? issuer;
  // The token endpoint of Entra follows from the authority.
  const tokenEndpoint =
    entry.tokenEndpoint ??
    (entry.type === 'entra' && address !== undefined && parseUrl(address)
      ? `${entraAuthority(address)}/oauth2/v2.0/token`
      : undefined);
  // A secret belongs to one client and is never sent with another client id.
  const isLoginClient = clientId === loginClient?.clientId;
  const clientSecret =
    entry.clientSecret ?? (isLoginClient ? (loginClient?.clientSecret ?? undefined) : undefined);
  return {
    ...entry,
    isDerived: false,
    ...(issuer !== undefined && { issuer }),
    ...(tokenEndpoint !== undefined && { tokenEndpoint }),
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
  };
}

/** Hosts that issue version 1 tokens have no version 2.0 endpoints. These hosts serve them instead. */
const v2Hosts: Readonly<Record<string, string>> = {
  'sts.windows.net': 'login.microsoftonline.com',
  'sts.microsoftonline.us': 'login.microsoftonline.us',
  'sts.chinacloudapi.cn': 'login.partner.microsoftonline.cn',
};

/** The authority for an issuer or a configured authority: without version and without trailing slash. */
export function entraAuthority(configured: string): string {
  const url = new URL(configured);
  // National clouds also issue version 1 tokens as sts.windows.net. They need an explicit `authority`.
  url.host = v2Hosts[url.host] ?? url.host;
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v2\.0$/, '');
  return `${url.origin}${path}`;
}
