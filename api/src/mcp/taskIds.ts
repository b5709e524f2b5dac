import { GatewayError, principalKey, type StartedTask, type Principal } from '@behalf/gateway';
import type { Clock, Keyring, SealContext } from '@behalf/kernel';

/** A task as its id says it: where it is, and what it was a call of. */
export type TaskReference = Omit<StartedTask, 'ttlMs'>;

/** The ids of tasks as clients hold them. */
export interface TaskIds {
  seal(caller: Principal, endpoint: string, task: StartedTask): string;
  /** Throws for whatever is no task of this caller at this endpoint, all of it alike. */
  open(caller: Principal, endpoint: string, id: unknown): TaskReference;
}

const DAY_MS = 24 * 3_600_000;
/** A server may keep a task for longer than it said at first, and the id stays the same: so it lasts a day at least. */
const MIN_LIFETIME_MS = DAY_MS;
const MAX_LIFETIME_MS = 30 * DAY_MS;
/** Clients repeat it in a header. */
const MAX_ID_LENGTH = 4_096;

/**
 * A server's own id may be all that it takes to read a result there: it is for the server alone. Clients hold one that is
 * sealed to its user and endpoint and says whose task it is, so that any replica can ask after it. It is no credential:
 * whoever presents it has shown who they are before.
 */
export function createTaskIds({ keyring, clock }: { keyring: Keyring; clock: Clock }): TaskIds {
  return {
    seal(caller, endpoint, { server, serverId, targetFingerprint, tool, id, credential = null, ttlMs }) {
      const lifetimeMs = Math.min(Math.max(ttlMs ?? MAX_LIFETIME_MS, MIN_LIFETIME_MS), MAX_LIFETIME_MS);
      const payload = JSON.stringify([
        clock.now() + lifetimeMs,
        server,
        serverId,
        targetFingerprint,
        tool,
        id,
        credential,
      ]);
      const sealed = keyring.seal(payload, toSealContext(caller, endpoint));
      if (sealed.length > MAX_ID_LENGTH) throw new GatewayError('MCP_PROTOCOL_ERROR');
      return sealed;
    },
    open(caller, endpoint, sealed) {
      if (typeof sealed !== 'string' || sealed.length > MAX_ID_LENGTH) throw taskNotFound();
      let payload: string;
      try {
        payload = keyring.open(sealed, toSealContext(caller, endpoint));
      } catch {
        throw taskNotFound();
      }
      const [expiresAt, server, serverId, targetFingerprint, tool, id, credential] = JSON.parse(
        payload,
      ) as SealedTask;
      if (clock.now() >= expiresAt) throw taskNotFound();
      return { server, serverId, targetFingerprint, tool, id, ...(credential !== null && { credential }) };
    },
  };
}

/** Nobody but us writes one. */
type SealedTask = [
  expiresAt: number,
  server: string,
  serverId: string,
  targetFingerprint: string,
  tool: string,
  id: string,
  credential: string | null,
];

function taskNotFound(): GatewayError {
  return new GatewayError('MCP_TASK_NOT_FOUND');
}

function toSealContext(caller: Principal, endpoint: string): SealContext {
  return {
    tenant: caller.tenant,
    principal: principalKey(caller),
    server: '-',
    kind: 'mcp-task',
    field: 'id',
    binding: [caller.issuer, endpoint],
  };
}
