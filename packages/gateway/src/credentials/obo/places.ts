import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { UserServer } from '../../registry/server.ts';
import type { OAuthEgress } from '../oauth/oauthNetwork.ts';
import { readProtectedResource } from '../oauth/discovery/protectedResource.ts';
import { targetWithoutUserValues } from '../oauth/signInTarget.ts';
import { createLruMap } from '../lruMap.ts';
import { ExchangeFault } from './exchangeFault.ts';
import type { Place } from './exchangeProvider.ts';

const LIFETIME_MS = 60 * 60 * 1_000;
const MOST_REMEMBERED = 1_000;

export interface PlaceParts {
  /** To the server itself: nothing that it publishes is followed elsewhere. */
  readonly network: Pick<OAuthEgress, 'fetchFor' | 'readError'>;
  readonly clock: Clock;
  readonly patienceMs: number;
}

/** Servers as exchanges see them. What a server publishes only chooses among what the operator has written down. */
export function createPlaces({ network, clock, patienceMs }: PlaceParts): (server: UserServer) => Place {
  const known = createLruMap<{ readonly servers: readonly string[]; readonly until: number }>(
    MOST_REMEMBERED,
  );

  async function published(server: UserServer): Promise<readonly string[]> {
    const last = known.get(server.revision);
    if (last && clock.now() < last.until) return last.servers;
    const target = targetWithoutUserValues(server);
    if (!target) return [];
    const fetch = network.fetchFor(server, [new URL(target.url).origin]);
    const reading = { fetch, clock, timeoutMs: patienceMs, readError: network.readError };
    const found = await readProtectedResource(reading, target, undefined).catch((cause: unknown) => {
      throw faultOf(cause);
    });
    const servers = found?.authorizationServers ?? [];
    known.set(server.revision, { servers, until: clock.now() + LIFETIME_MS });
    return servers;
  }

  return (server) => ({
    url: targetWithoutUserValues(server)?.url ?? '',
    authorizationServers: () => published(server),
  });
}

/** An outage passes by; a document that is not this server's does not. */
function faultOf(cause: unknown): ExchangeFault {
  const passes = cause instanceof GatewayError && cause.code === 'UPSTREAM_AUTH_UNAVAILABLE';
  const hint =
    'The server’s own metadata, which names its authorization server, could not be read; set obo.audience.';
  return new ExchangeFault(passes ? 'OBO_TEMPORARY' : 'OBO_MISCONFIGURED', { cause, hint, mayRepeat: false });
}
