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
import { oneByOne } from '../oneByOne.ts';
import type { Elicitations } from '../session/elicitations.ts';
import type { McpSession } from '../session/sessions.ts';

/** Tells a session that a page it was asked to open is done: its user has connected that server. */
export type FollowElicitations = (
  caller: Principal,
  session: McpSession,
  tell: (elicitationId: string) => void,
) => FollowedElicitations;

export interface FollowedElicitations {
  /** There may be others. */
  look(): void;
  stop(): void;
}

/** What is read here may be this much older than what was told. */
const AGAIN_MS = 2_000;

/** Listens only while something is not done, and tells each once, whichever replicas the session's streams are at. */
export function createFollowElicitations({
  servers,
  elicitations,
  changes,
  clock,
}: {
  readonly servers: EndpointParts;
  readonly elicitations: Pick<Elicitations, 'read' | 'remove'>;
  readonly changes: Pick<ChangeFeed, 'subscribe'>;
  readonly clock: Clock;
}): FollowElicitations {
  return (caller, session, tell) => {
    const over = new LightCancellation();
    const inbound: Inbound = { principal: caller, door: 'mcp', signal: over };
    const isOver = () => over.aborted;
    let leave: (() => void) | undefined;
    let cancel: Cancel = () => undefined;

    const look = oneByOne(async () => {
      const open = await elicitations.read(session);
      if (isOver()) return;
      if (open.length === 0) {
        leave?.();
        leave = undefined;
        return;
      }
      // Before it is asked whether they are connected: what happens meanwhile is asked about again.
      leave ??= changes.subscribe((notice) => {
        if (!mayConnect(notice, caller)) return;
        look();
        cancel();
        cancel = clock.timer(AGAIN_MS, look);
      });
      for (const one of open) {
        if (!(await hasUsableCredential(servers, one.server, inbound)) || isOver()) continue;
        if (await elicitations.remove(session, one)) tell(one.id);
      }
    });

    return {
      look,
      stop() {
        over.abort(new DOMException('Nobody listens any more', 'AbortError'));
        cancel();
        leave?.();
      },
    };
  };
}

/** A notice that this caller may have something to present now that they had not. */
function mayConnect({ topic, id }: ChangeEvent, { tenant, userId }: Principal): boolean {
  if (topic !== 'credentials' && topic !== 'variables') return false;
  if (id === '*') return true;
  if (topic === 'variables') {
    const owner = parseVariablesKey(id);
    return owner?.tenant === tenant && owner.userId === userId;
  }
  const [of, holder = ''] = JSON.parse(id) as string[];
  return of === tenant && userIdOfHolder(holder) === userId;
}
