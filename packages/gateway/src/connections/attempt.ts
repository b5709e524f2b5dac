import { parseUrl } from '@behalf/contracts';
import type { OpenOptions } from '../upstream/target.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { Open } from './connect.ts';
import { transportEvidence } from './evidence.ts';
import type { Gate, Passage } from './gate.ts';
import type { OpenFailures } from './openFailures.ts';
import { revisionKey } from './serverKey.ts';

/** Opens one connection and remembers how that went: once for the opening, not once for each who waited for it. */
export type Attempt = (passage: Passage, signal: AbortSignal) => Promise<Upstream>;

export function createAttempt(parts: { connect: Open; gate: Gate; failures: OpenFailures }): Attempt {
  const { connect, gate, failures } = parts;
  return async (passage, signal) => {
    const { server, target, holder } = passage;
    const key = revisionKey(server);
    const open: OpenOptions = {
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
      const upstream = await connect(target, open);
      gate.report(passage, 'opening', undefined);
      failures.clear(key, holder?.principal);
      return upstream;
    } catch (error) {
      // Our own giving up says nothing of the server.
      if (error instanceof UpstreamError && !signal.aborted) {
        gate.report(passage, 'opening', error);
        failures.note(key, holder?.principal, error, transportEvidence(error, 'opening') === 'bad');
      }
      throw error;
    }
  };
}
