import {
  GatewayError,
  type JsonObject,
  type Principal,
  type StartedTask,
  type TaskMethod,
  hasTasksCapability,
  sendTaskRequest,
  tasksCapability,
} from '@behalf/gateway';
import type { Clock, Keyring } from '@behalf/kernel';
import { createObserveRequest } from '../../../http/inbound.ts';
import { endpointKey } from '../endpoint.ts';
import { type McpRequest, type Method, createMcpInbound } from '../request.ts';
import { RpcFault, invalidParams, rpcCode } from '../rpc.ts';
import { callerSealContext, openJson } from '../sealed.ts';
import { respondSignInRequired } from '../signIn.ts';
import { type MethodParts, isResponseMap } from './serverCallRunner.ts';

/** `tasks/*` (MCP tasks extension): only in the modern era, for clients that declare the extension with the request. */
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
      // Replaces the id of the server by the sealed id that the client knows.
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
        throw invalidParams('params.inputResponses must be an object of results');
      return runTaskMethod(mcpRequest, 'tasks/update', { inputResponses });
    },
  };
}

/** Clients without the extension never receive a task id, so they cannot use these methods. */
export function requireTasksCapability(capabilities: JsonObject): void {
  if (hasTasksCapability(capabilities)) return;
  throw new RpcFault(
    rpcCode.capabilityMissing,
    'This method requires the client to declare the tasks extension',
    { data: { requiredCapabilities: tasksCapability }, status: 400 },
  );
}

function rejectState(): string {
  throw new Error('A task has no request state');
}

/** The content of a task id: the server, the target of the call, and the id that the server issued. */
type TaskReference = Omit<StartedTask, 'ttlMs'>;

const DAY_MS = 24 * 3_600_000;
/** A server may extend the lifetime of a task after it was created, but its id stays the same. */
const MIN_LIFETIME_MS = DAY_MS;
const MAX_LIFETIME_MS = 30 * DAY_MS;
/** Clients repeat the id in the header `Mcp-Name`. */
const MAX_ID_LENGTH = 4_096;

export type TaskIds = ReturnType<typeof createTaskIds>;

/**
 * Task ids for clients. The id that a server issues may be enough to read the result there, so clients receive a sealed id
 * instead. It is bound to the user and the endpoint and names the server, so that any replica can serve it. It is no credential:
 * the caller is authenticated separately.
 */
export function createTaskIds({ keyring, clock }: { keyring: Keyring; clock: Clock }) {
  return {
    seal(caller: Principal, endpoint: string, task: StartedTask): string {
      const { server, serverId, targetFingerprint, tool, id, credential = null, ttlMs } = task;
      const lifetimeMs = Math.min(Math.max(ttlMs ?? MAX_LIFETIME_MS, MIN_LIFETIME_MS), MAX_LIFETIME_MS);
      const content: SealedTask = [
        clock.now() + lifetimeMs,
        ...([server, serverId, targetFingerprint, tool, id, credential] as const),
      ];
      const sealed = keyring.seal(JSON.stringify(content), toSealContext(caller, endpoint));
      if (sealed.length > MAX_ID_LENGTH) throw new GatewayError('MCP_PROTOCOL_ERROR');
      return sealed;
    },
    /** Throws the same error for an expired id, an id of another user and anything else. */
    open(caller: Principal, endpoint: string, taskId: unknown): TaskReference {
      const value = openJson(keyring, taskId, toSealContext(caller, endpoint), MAX_ID_LENGTH);
      if (value === undefined) throw taskNotFound();
      const [expiresAt, server, serverId, targetFingerprint, tool, id, credential] = value as SealedTask;
      if (clock.now() >= expiresAt) throw taskNotFound();
      return { server, serverId, targetFingerprint, tool, id, ...(credential !== null && { credential }) };
    },
  };
}

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

function toSealContext(caller: Principal, endpoint: string) {
  return callerSealContext(caller, 'mcp-task', 'id', [caller.issuer, endpoint]);
}
