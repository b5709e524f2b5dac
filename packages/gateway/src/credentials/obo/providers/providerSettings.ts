import { parseUrl } from '@behalf/contracts';
import type { Clock, Fetch, Random } from '@behalf/kernel';
import { type ProviderSettings, findMicrosoftCloud, isLoginProvider } from '@behalf/settings';
import type { ProviderIdentity } from '../exchangeProvider.ts';
import { type ActorToken, type ClientCredential, hashTuple } from './clientCredential.ts';
import type { EndpointSource } from './endpointSource.ts';

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

/** Issuers of version 1 tokens, which serve no version 2.0 endpoints, and who does in their place. */
const v2Hosts: Readonly<Record<string, string>> = {
  'sts.windows.net': 'login.microsoftonline.com',
  'sts.microsoftonline.us': 'login.microsoftonline.us',
  'sts.chinacloudapi.cn': 'login.partner.microsoftonline.cn',
};

/**
 * Whether an issuer is Entra: one of the hosts known as such. A suffix would let whoever has a name below it decide which
 * request shape, and with it which client secret, goes there. Hosts of customers' own (`*.b2clogin.com`, `*.ciamlogin.com`,
 * custom domains) are declared with an `authority` instead.
 */
function isMicrosoftIssuer(issuer: string): boolean {
  return findMicrosoftCloud(issuer) !== undefined;
}

/** The authority behind an issuer or an authority as written: no version, no slash at the end. */
export function entraAuthority(configured: string): string {
  const url = new URL(configured);
  // National clouds issue version 1 tokens under the first name too: they need an `authority`.
  url.host = v2Hosts[url.host] ?? url.host;
  const path = url.pathname.replace(/\/+$/, '').replace(/\/v2\.0$/, '');
  return `${url.origin}${path}`;
}

function entraTokenEndpoint(authority: string): string {
  return `${authority}/oauth2/v2.0/token`;
}

/** What the providers of one entry share, whatever their grant. */
export interface ProviderParts {
  readonly settings: EffectiveSettings;
  readonly fetch: Fetch;
  readonly endpoint: EndpointSource;
  readonly credential: ClientCredential;
  readonly actor: ActorToken;
  readonly clock: Clock;
  readonly random: Random;
}

/** Where an exchange goes on after the provider. */
type ExchangeLeg = Pick<ProviderParts, 'settings' | 'endpoint' | 'credential'>;

/** Follows the files as they are read; the same object for as long as they stay the same. */
export function createProviderIdentity(
  {
    settings,
    endpoint,
    credential,
    actor,
    legs = [],
  }: ProviderParts & { readonly legs?: readonly ExchangeLeg[] },
  grant: ProviderIdentity['grant'],
): () => ProviderIdentity {
  const { name, clientId = '', clientAuth, parameters = {}, subjectTokenType, requestedTokenType } = settings;
  const sendsActor = grant === 'token-exchange';
  // Fields that change what is asked for belong to the key as well.
  const settingsHash = hashTuple([
    settings.dpop ?? null,
    settings.subject ?? null,
    JSON.stringify(
      legs.map(({ settings, endpoint }) => [endpoint.name, settings.clientId, settings.clientAuth]),
    ),
    clientAuth ?? null,
    subjectTokenType ?? null,
    requestedTokenType ?? null,
    JSON.stringify(Object.entries(parameters).sort()),
  ]);
  let lastVersions = { credential: '', actor: '' };
  let identity: ProviderIdentity | undefined;
  return () => {
    const versions = [credential, ...legs.map((leg) => leg.credential)].map((source) =>
      source.getFingerprint(),
    );
    const current = { credential: versions.join(' '), actor: sendsActor ? actor.getFingerprint() : '' };
    if (identity && current.credential === lastVersions.credential && current.actor === lastVersions.actor)
      return identity;
    lastVersions = current;
    identity = Object.freeze<ProviderIdentity>({
      provider: name,
      grant,
      // The whole way has one name: that its last part is out of order is not told of the provider.
      endpoint: [endpoint, ...legs.map((leg) => leg.endpoint)].map(({ name }) => name).join(' > '),
      clientId,
      credentialVersion: hashTuple([current.credential, settingsHash]),
      actor: current.actor,
    });
    return identity;
  };
}
