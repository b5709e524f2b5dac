import {
  GatewayError,
  type JsonObject,
  type Principal,
  type StartedTask,
  type TaskMethod,
  hasTasksCapability,
  principalKey,
  sendTaskRequest,
  tasksCapability,
} from '@behalf/gateway';
import type { Clock, Keyring, SealContext } from '@behalf/kernel';
import { createObserveRequest } from '../../ops/observeRequest.ts';
import { endpointKey } from '../endpoint.ts';
import { type McpRequest, type Method, createMcpInbound } from '../request.ts';
import { RpcFault, rpcCode } from '../rpc.ts';
import { respondSignInRequired } from '../signIn.ts';
import { type MethodParts, isResponseMap } from './serverCallRunner.ts';

/** Of the modern era, and for clients that declare the extension with this very request. */
export function taskMethods(parts: MethodParts): Readonly<Record<TaskMethod, Method>> {
  const { servers, results, taskIds, requestIds } = parts;
  const observe = createObserveRequest(parts);

  async function runTaskMethod(
    mcpRequest: McpRequest,
    method: TaskMethod,
    extra: { inputResponses?: JsonObject } = {},
  ): Promise<string> {
    const { caller, endpoint, params, signal } = mcpRequest;
    requireTasksCapability(mcpRequest.capabilities);
    const { taskId } = params;
    const task = taskIds.open(caller, endpointKey(endpoint), taskId);
    const { server } = task;
    const inbound = createMcpInbound(mcpRequest, requestIds());
    try {
      const { result } = await observe({ caller, door: 'mcp', server, operation: method, signal }, () =>
        sendTaskRequest(servers, { method, task, ...extra }, inbound),
      );
      // The one that the client has: a server's own is never shown.
      return results.fromGateway('modern', 'taskId' in result ? { ...result, taskId } : result);
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'MCP_AUTHORIZATION_REQUIRED') {
        return await respondSignInRequired(parts, mcpRequest, {
          server,
          state: {},
          seal: rejectState,
          error,
          signIn: error.signIn,
        });
      }
      throw error;
    }
  }

  return {
    'tasks/get': (mcpRequest) => runTaskMethod(mcpRequest, 'tasks/get'),
    'tasks/cancel': (mcpRequest) => runTaskMethod(mcpRequest, 'tasks/cancel'),
    'tasks/update'(mcpRequest) {
      const { inputResponses } = mcpRequest.params;
      requireTasksCapability(mcpRequest.capabilities);
      if (!isResponseMap(inputResponses))
        throw new RpcFault(rpcCode.invalidParams, 'params.inputResponses must be an object of results');
      return runTaskMethod(mcpRequest, 'tasks/update', { inputResponses });
    },
  };
}

/** Who does not know of tasks cannot have one. */
export function requireTasksCapability(capabilities: JsonObject): void {
  if (hasTasksCapability(capabilities)) return;
  throw new RpcFault(
    rpcCode.capabilityMissing,
    'This method requires the client to declare the tasks extension',
    {
      data: { requiredCapabilities: tasksCapability },
      status: 400,
    },
  );
}

function rejectState(): string {
  throw new Error('A task has no request state');
}

/** A task as its id says it: where it is, and what it was a call of. */
type TaskReference = Omit<StartedTask, 'ttlMs'>;

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
