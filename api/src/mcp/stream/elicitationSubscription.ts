import {
  hasUsableCredential,
  parseVariablesKey,
  userIdOfHolder,
  type EndpointParts,
  type Inbound,
  type Principal,
} from '@behalf/gateway';
import type { ChangeFeed, ChangeEvent } from '@behalf/gateway/ports';
import { LightCancellation, type Cancel, type Clock } from '@behalf/kernel';
import { coalesceRuns } from '../coalesceRuns.ts';
import type { Elicitations } from '../session/elicitations.ts';
import type { McpSession } from '../session/sessions.ts';

/** Tells a session that a page it was asked to open is done: its user has connected that server. */
export type SubscribeElicitations = (
  caller: Principal,
  session: McpSession,
  onCompleted: (elicitationId: string) => void,
) => ElicitationSubscription;

export interface ElicitationSubscription {
  /** There may be others. */
  check(): void;
  stop(): void;
}

/** What is read here may be this much older than what was told. */
const RECHECK_MS = 2_000;

/** Listens only while something is not done, and tells each once, whichever replicas the session's streams are at. */
export function createSubscribeElicitations({
  servers,
  elicitations,
  changes,
  clock,
}: {
  readonly servers: EndpointParts;
  readonly elicitations: Pick<Elicitations, 'read' | 'remove'>;
  readonly changes: Pick<ChangeFeed, 'subscribe'>;
  readonly clock: Clock;
}): SubscribeElicitations {
  return (caller, session, onCompleted) => {
    const cancellation = new LightCancellation();
    const inbound: Inbound = { principal: caller, door: 'mcp', signal: cancellation };
    const isStopped = () => cancellation.aborted;
    let unsubscribe: (() => void) | undefined;
    let cancel: Cancel = () => undefined;

    const check = coalesceRuns(async () => {
      const pending = await elicitations.read(session);
      if (isStopped()) return;
      if (pending.length === 0) {
        unsubscribe?.();
        unsubscribe = undefined;
        return;
      }
      // Before it is asked whether they are connected: what happens meanwhile is asked about again.
      unsubscribe ??= changes.subscribe((change) => {
        if (!mayAffectConnection(change, caller)) return;
        check();
        cancel();
        cancel = clock.timer(RECHECK_MS, check);
      });
      for (const elicitation of pending) {
        if (!(await hasUsableCredential(servers, elicitation.server, inbound)) || isStopped()) continue;
        if (await elicitations.remove(session, elicitation)) onCompleted(elicitation.id);
      }
    });

    return {
      check,
      stop() {
        cancellation.abort(new DOMException('The stream was closed', 'AbortError'));
        cancel();
        unsubscribe?.();
      },
    };
  };
}

/** A notice that this caller may have something to present now that they had not. */
function mayAffectConnection({ topic, id }: ChangeEvent, { tenant, userId }: Principal): boolean {
  if (topic !== 'credentials' && topic !== 'variables') return false;
  if (id === '*') return true;
  if (topic === 'variables') {
    const owner = parseVariablesKey(id);
    return owner?.tenant === tenant && owner.userId === userId;
  }
  const [changedTenant, holder = ''] = JSON.parse(id) as string[];
  return changedTenant === tenant && userIdOfHolder(holder) === userId;
}
