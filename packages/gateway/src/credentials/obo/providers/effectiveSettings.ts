import { parseUrl } from '@behalf/contracts';
import { isAtLogin, type ProviderSettings } from '@behalf/settings';
import { entraAuthority, entraTokenEndpoint, isMicrosoftIssuer } from './microsoftAuthority.ts';

/** The client people sign in with (`OPENID_*`). */
export interface LoginClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
}

/** An entry of `identityProviders` with this name is what servers use that name none. */
export const LOGIN = 'login';

/** What a provider goes by once everything it leaves out is filled in. */
export interface EffectiveSettings extends ProviderSettings {
  /** Made from `OPENID_*` alone: it behaves as a stock configuration expects. */
  readonly isDerived: boolean;
}

/** All of them by name. The login provider is among them unless there is neither an entry nor a login. */
export function effectiveSettings(
  declared: readonly ProviderSettings[],
  login: LoginClient | null,
): ReadonlyMap<string, EffectiveSettings> {
  const all = new Map(declared.map((entry) => [entry.name, filled(entry, login)]));
  if (login && !all.has(LOGIN)) all.set(LOGIN, derived(login));
  return all;
}

/** An authorization server of an `id-jag` entry, as what it is: an endpoint that takes assertions of ours. */
export function resourceSettings({ name, resourceServers = [] }: ProviderSettings): EffectiveSettings[] {
  return resourceServers.map((server, index) => ({
    ...server,
    ...{ name: `${name}.resourceServers[${index}]`, type: 'jwt-bearer', isDerived: false },
  }));
}

function derived(login: LoginClient): EffectiveSettings {
  const type = isMicrosoftIssuer(login.issuer) ? 'entra' : 'jwt-bearer';
  return { ...filled({ name: LOGIN, type }, login), isDerived: true };
}

function filled(entry: ProviderSettings, login: LoginClient | null): EffectiveSettings {
  const { authority } = entry;
  // The login's client is known where people sign in. Anywhere else its secret would be told to a stranger.
  const client = login && isAtLogin(entry, login.issuer) ? login : null;
  const clientId = entry.clientId ?? client?.clientId;
  const placeless =
    entry.issuer === undefined && entry.tokenEndpoint === undefined && authority === undefined;
  const issuer = placeless ? login?.issuer : entry.issuer;
  const place = authority ?? issuer;
  // Entra's own endpoint is known without asking.
  const tokenEndpoint =
    entry.tokenEndpoint ??
    (entry.type === 'entra' && place !== undefined && parseUrl(place)
      ? entraTokenEndpoint(entraAuthority(place))
      : undefined);
  // The secret belongs to one client: another one never sends it.
  const inherits = clientId === client?.clientId;
  const clientSecret = entry.clientSecret ?? (inherits ? (client?.clientSecret ?? undefined) : undefined);
  return {
    ...entry,
    isDerived: false,
    ...(issuer !== undefined && { issuer }),
    ...(tokenEndpoint !== undefined && { tokenEndpoint }),
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
  };
}
