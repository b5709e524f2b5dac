import { GatewayError, principalKey, type StartedTask, type Principal } from '@behalf/gateway';
import type { Clock, Keyring, SealContext } from '@behalf/kernel';

/** A task as its id says it: where it is, and what it was a call of. */
export type NamedTask = Omit<StartedTask, 'ttlMs'>;

/** The ids of tasks as clients hold them. */
export interface TaskIds {
  seal(caller: Principal, endpoint: string, task: StartedTask): string;
  /** Throws for whatever is no task of this caller at this endpoint, all of it alike. */
  open(caller: Principal, endpoint: string, id: unknown): NamedTask;
}

const DAY_MS = 24 * 3_600_000;
/** A server may keep a task for longer than it said at first, and the id stays the same: so it lasts a day at least. */
const SHORTEST_MS = DAY_MS;
const LONGEST_MS = 30 * DAY_MS;
/** Clients repeat it in a header. */
const LONGEST_ID = 4_096;

/**
 * A server's own id may be all that it takes to read a result there: it is for the server alone. Clients hold one that is
 * sealed to its user and endpoint and says whose task it is, so that any replica can ask after it. It is no credential:
 * whoever presents it has shown who they are before.
 */
export function createTaskIds({ keyring, clock }: { keyring: Keyring; clock: Clock }): TaskIds {
  return {
    seal(
      caller,
      endpoint,
      { server, serverId, targetFingerprint: place, tool, id, credential = null, ttlMs },
    ) {
      const lasts = Math.min(Math.max(ttlMs ?? LONGEST_MS, SHORTEST_MS), LONGEST_MS);
      const text = JSON.stringify([clock.now() + lasts, server, serverId, place, tool, id, credential]);
      const sealed = keyring.seal(text, contextOf(caller, endpoint));
      if (sealed.length > LONGEST_ID) throw new GatewayError('MCP_PROTOCOL_ERROR');
      return sealed;
    },
    open(caller, endpoint, sealed) {
      if (typeof sealed !== 'string' || sealed.length > LONGEST_ID) throw unknown();
      let text: string;
      try {
        text = keyring.open(sealed, contextOf(caller, endpoint));
      } catch {
        throw unknown();
      }
      const [until, server, serverId, place, tool, id, credential] = JSON.parse(text) as Sealed;
      if (clock.now() >= until) throw unknown();
      return {
        server,
        serverId,
        targetFingerprint: place,
        tool,
        id,
        ...(credential !== null && { credential }),
      };
    },
  };
}

/** Nobody but us writes one. */
type Sealed = [
  until: number,
  server: string,
  serverId: string,
  place: string,
  tool: string,
  id: string,
  label: string | null,
];

function unknown(): GatewayError {
  return new GatewayError('MCP_TASK_NOT_FOUND');
}

function contextOf(caller: Principal, endpoint: string): SealContext {
  return {
    tenant: caller.tenant,
    principal: principalKey(caller),
    server: '-',
    kind: 'mcp-task',
    field: 'id',
    binding: [caller.issuer, endpoint],
  };
}
