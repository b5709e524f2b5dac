import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { UserServer } from '../../servers/definition.ts';
import type { OAuthEgress } from '../oauth/network.ts';
import { readProtectedResource } from '../oauth/metadata.ts';
import { targetWithoutUserValues } from '../oauth/signInTarget.ts';
import { createLruMap } from '../lruMap.ts';
import { ExchangeFault, type ExchangeResource } from './exchangeProvider.ts';

const LIFETIME_MS = 60 * 60 * 1_000;
const MAX_CACHED_SERVERS = 1_000;

export interface ResourceMetadataParts {
  /** To the server itself: nothing that it publishes is followed elsewhere. */
  readonly network: Pick<OAuthEgress, 'fetchFor' | 'readError'>;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Servers as exchanges see them. What a server publishes only chooses among what the operator has written down. */
export function createResourceMetadata({
  network,
  clock,
  timeoutMs,
}: ResourceMetadataParts): (server: UserServer) => ExchangeResource {
  const cache = createLruMap<{ readonly servers: readonly string[]; readonly until: number }>(
    MAX_CACHED_SERVERS,
  );

  async function readAuthorizationServers(server: UserServer): Promise<readonly string[]> {
    const cached = cache.get(server.revision);
    if (cached && clock.now() < cached.until) return cached.servers;
    const target = targetWithoutUserValues(server);
    if (!target) return [];
    const fetch = network.fetchFor(server, [new URL(target.url).origin]);
    const discoveryParts = { fetch, clock, timeoutMs, readError: network.readError };
    const document = await readProtectedResource(discoveryParts, target, undefined).catch(
      (cause: unknown) => {
        throw toExchangeFault(cause);
      },
    );
    const servers = document?.authorizationServers ?? [];
    cache.set(server.revision, { servers, until: clock.now() + LIFETIME_MS });
    return servers;
  }

  return (server) => ({
    url: targetWithoutUserValues(server)?.url ?? '',
    authorizationServers: () => readAuthorizationServers(server),
  });
}

/** An outage passes by; a document that is not this server's does not. */
function toExchangeFault(cause: unknown): ExchangeFault {
  const isTemporary = cause instanceof GatewayError && cause.code === 'UPSTREAM_AUTH_UNAVAILABLE';
  const hint =
    'The protected resource metadata of the server could not be read, so its authorization server is unknown; set obo.audience.';
  return new ExchangeFault(isTemporary ? 'OBO_TEMPORARY' : 'OBO_MISCONFIGURED', {
    cause,
    hint,
    isRetryable: false,
  });
}
