import { type Clock, LruMap } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { UserServer } from '../../definitions/definition.ts';
import { readProtectedResource } from '../oauth/metadata.ts';
import type { OAuthEgress } from '../oauth/network.ts';
import { targetWithoutUserValues } from '../oauth/signInTarget.ts';
import { ExchangeFault, type ExchangeResource } from './exchangeProvider.ts';

const LIFETIME_MS = 60 * 60 * 1_000;
const MAX_CACHED_SERVERS = 1_000;

export interface ResourceMetadataParts {
  /** Requests go to the server itself only. */
  readonly network: Pick<OAuthEgress, 'fetchFor' | 'readError'>;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/**
 * Describes servers for exchanges. The protected resource metadata (RFC 9728) of a server only selects among the authorization servers
 * that the operator configured.
 */
export function createResourceMetadata({
  network,
  clock,
  timeoutMs,
}: ResourceMetadataParts): (server: UserServer) => ExchangeResource {
  const cache = new LruMap<string, { readonly servers: readonly string[]; readonly until: number }>(
    MAX_CACHED_SERVERS,
  );

  async function readAuthorizationServers(server: UserServer): Promise<readonly string[]> {
    const cached = cache.get(server.revision);
    if (cached && clock.now() < cached.until) return cached.servers;
    const target = targetWithoutUserValues(server);
    if (!target) return [];
    const fetch = network.fetchFor(server, [new URL(target.url).origin]);
    const readerParts = { fetch, clock, timeoutMs, readError: network.readError };
    const document = await readProtectedResource(readerParts, target, undefined).catch((cause: unknown) => {
      throw toExchangeFault(cause);
    });
    const servers = document?.authorizationServers ?? [];
    cache.set(server.revision, { servers, until: clock.now() + LIFETIME_MS });
    return servers;
  }

  return (server) => ({
    url: targetWithoutUserValues(server)?.url ?? '',
    authorizationServers: () => readAuthorizationServers(server),
  });
}

/** An outage is temporary. An invalid document is not. */
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
