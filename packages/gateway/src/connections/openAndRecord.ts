import { parseUrl } from '@behalf/contracts';
import type { OpenOptions } from '../upstream/target.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { OpenConnection } from './connectWithRetry.ts';
import { toTransportSignal } from './breakerSignal.ts';
import type { BreakerGuard, ConnectionRequest } from './breakerGuard.ts';
import type { ConnectionFailures } from './connectionFailures.ts';
import { revisionKey } from './connectionKeys.ts';

/** Opens one connection and remembers how that went: once for the opening, not once for each who waited for it. */
export type OpenAndRecord = (request: ConnectionRequest, signal: AbortSignal) => Promise<Upstream>;

export function createOpenAndRecord(parts: {
  connect: OpenConnection;
  breakerGuard: BreakerGuard;
  failures: ConnectionFailures;
}): OpenAndRecord {
  const { connect, breakerGuard, failures } = parts;
  return async (request, signal) => {
    const { server, target, holder } = request;
    const key = revisionKey(server);
    const openOptions: OpenOptions = {
      server: server.name,
      owner: holder?.principal,
      era: server.settings.era,
      relay: server.settings.relay,
      // Never a caller's own limit: others wait for the same opening, and its end is told to the breakers.
      initTimeoutMs: server.settings.initTimeout,
      signal,
    };
    try {
      // A value that a user entered may have made it one. Nothing can be sent there.
      if (target.type !== 'stdio' && !parseUrl(target.url)) throw new UpstreamError('not_allowed');
      const upstream = await connect(target, openOptions);
      breakerGuard.recordResult(request, 'opening', undefined);
      failures.clear(key, holder?.principal);
      return upstream;
    } catch (error) {
      // Our own giving up says nothing of the server.
      if (error instanceof UpstreamError && !signal.aborted) {
        breakerGuard.recordResult(request, 'opening', error);
        failures.record(key, holder?.principal, error, toTransportSignal(error, 'opening') === 'bad');
      }
      throw error;
    }
  };
}
