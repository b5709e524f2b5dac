import { parseUrl } from '@behalf/contracts';
import { isLoginProvider, type ProviderSettings } from '@behalf/settings';
import { entraAuthority, entraTokenEndpoint, isMicrosoftIssuer } from './microsoftAuthority.ts';

/** The client people sign in with (`OPENID_*`). */
export interface LoginClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
}

/** An entry of `identityProviders` with this name is what servers use that name none. */
export const LOGIN_PROVIDER = 'login';

/** What a provider goes by once everything it leaves out is filled in. */
export interface EffectiveSettings extends ProviderSettings {
  /** Made from `OPENID_*` alone: it behaves as a stock configuration expects. */
  readonly isDerived: boolean;
}

/** All of them by name. The login provider is among them unless there is neither an entry nor a login. */
export function resolveProviderSettings(
  declared: readonly ProviderSettings[],
  login: LoginClient | null,
): ReadonlyMap<string, EffectiveSettings> {
  const settingsByName = new Map(declared.map((entry) => [entry.name, fillDefaults(entry, login)]));
  if (login && !settingsByName.has(LOGIN_PROVIDER))
    settingsByName.set(LOGIN_PROVIDER, deriveFromLogin(login));
  return settingsByName;
}

/** An authorization server of an `id-jag` entry, as what it is: an endpoint that takes assertions of ours. */
export function resolveResourceServers({
  name,
  resourceServers = [],
}: ProviderSettings): EffectiveSettings[] {
  return resourceServers.map((server, index) => ({
    ...server,
    ...{ name: `${name}.resourceServers[${index}]`, type: 'jwt-bearer', isDerived: false },
  }));
}

function deriveFromLogin(login: LoginClient): EffectiveSettings {
  const type = isMicrosoftIssuer(login.issuer) ? 'entra' : 'jwt-bearer';
  return { ...fillDefaults({ name: LOGIN_PROVIDER, type }, login), isDerived: true };
}

function fillDefaults(entry: ProviderSettings, login: LoginClient | null): EffectiveSettings {
  const { authority } = entry;
  // The login's client is known where people sign in. Anywhere else its secret would be told to a stranger.
  const loginClient = login && isLoginProvider(entry, login.issuer) ? login : null;
  const clientId = entry.clientId ?? loginClient?.clientId;
  const hasNoAddress =
    entry.issuer === undefined && entry.tokenEndpoint === undefined && authority === undefined;
  const issuer = hasNoAddress ? login?.issuer : entry.issuer;
  const address = authority ?? issuer;
  // Entra's own endpoint is known without asking.
  const tokenEndpoint =
    entry.tokenEndpoint ??
    (entry.type === 'entra' && address !== undefined && parseUrl(address)
      ? entraTokenEndpoint(entraAuthority(address))
      : undefined);
  // The secret belongs to one client: another one never sends it.
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
