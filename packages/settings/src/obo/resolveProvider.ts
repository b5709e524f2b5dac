import type { ExchangeTarget } from '@behalf/contracts';
import type { ProviderSettings } from '../compile/compileProviders.ts';
import { isMicrosoftAuthority, LOGIN_PROVIDER, findMicrosoftCloud, type LoginProviderInfo } from './login.ts';

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
