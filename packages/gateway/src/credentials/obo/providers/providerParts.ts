import type { Clock, Fetch, Random } from '@behalf/kernel';
import type { ProviderIdentity } from '../exchangeProvider.ts';
import type { ActorToken } from './actorToken.ts';
import { hashTuple, type ClientCredential } from './clientCredential.ts';
import type { EffectiveSettings } from './effectiveSettings.ts';
import type { EndpointSource } from './endpointSource.ts';

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
export type ExchangeLeg = Pick<ProviderParts, 'settings' | 'endpoint' | 'credential'>;

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
