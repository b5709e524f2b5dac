import type { Cancellation } from '@behalf/kernel';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { Connection } from './connection.ts';
import type { Gate, Pass, Passage } from './gate.ts';
import type { Lease } from './lease.ts';
import { isStateless } from './stateless.ts';

export interface Use {
  readonly passage: Passage;
  readonly pass: Pass | undefined;
  readonly gate: Gate;
  readonly signal: Cancellation;
  readonly onFailure?: (() => void) | undefined;
}

/** The lease of a connection that already counts its borrower. */
export function leaseOf(connection: Connection, use: Use): Lease {
  const { upstream } = connection;
  let released = false;
  return {
    upstream,
    whenRetired: connection.whenRetired,
    release(ended) {
      if (released) return;
      released = true;
      const failure = ended instanceof UpstreamError ? ended : undefined;
      // A token that could not be had is no word of the server, and no proof that it is well.
      const unasked = ended !== undefined && !failure;
      const { passage, pass, gate, signal } = use;
      // Who went away learned nothing: a call that was given up is no proof that the server is well.
      if (!unasked && (failure || !signal.aborted)) gate.report(passage, 'use', failure);
      if (pass) gate.leave(passage, pass);
      if (failure) {
        use.onFailure?.();
        if (sessionIsOver(failure) && !isStateless(passage.target, upstream.claims)) void connection.retire();
      }
      connection.giveBack();
    },
  };
}

/** After a timeout or a broken stream the session may well be there; when it is not, the upstream says that it closed. */
function sessionIsOver({ reason }: UpstreamError): boolean {
  return reason === 'ended' || reason === 'session_lost';
}
