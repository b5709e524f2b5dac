import {
  sendTaskRequest,
  GatewayError,
  hasTasksCapability,
  tasksCapability,
  type JsonObject,
  type TaskMethod,
} from '@behalf/gateway';
import { createObserving } from '../../rest/mcp/observing.ts';
import type { Asked, Method } from '../asked.ts';
import { authNeeded } from '../authNeeded.ts';
import { mcpInbound } from '../mcpInbound.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import { areResponses } from './callMethod.ts';
import { endpointKey } from '../doorEndpoint.ts';
import { type MethodParts } from './methodParts.ts';

/** Of the modern era, and for clients that declare the extension with this very request. */
export function taskMethods(parts: MethodParts): Readonly<Record<TaskMethod, Method>> {
  const { servers, results, taskIds, requestIds } = parts;
  const observe = createObserving(parts);

  async function ask(
    asked: Asked,
    method: TaskMethod,
    more: { inputResponses?: JsonObject } = {},
  ): Promise<string> {
    const { caller, endpoint, params, signal } = asked;
    requireTasks(asked.capabilities);
    const { taskId } = params;
    const task = taskIds.open(caller, endpointKey(endpoint), taskId);
    const { server } = task;
    const inbound = mcpInbound(asked, requestIds());
    try {
      const { result } = await observe({ caller, door: 'mcp', server, what: method, signal }, () =>
        sendTaskRequest(servers, { method, task, ...more }, inbound),
      );
      // The one that the client has: a server's own is never shown.
      return results.own('modern', 'taskId' in result ? { ...result, taskId } : result);
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'MCP_AUTHORIZATION_REQUIRED') {
        return await authNeeded(parts, asked, {
          server,
          state: {},
          seal: noState,
          error,
          signIn: error.signIn,
        });
      }
      throw error;
    }
  }

  return {
    'tasks/get': (asked) => ask(asked, 'tasks/get'),
    'tasks/cancel': (asked) => ask(asked, 'tasks/cancel'),
    'tasks/update'(asked) {
      const { inputResponses } = asked.params;
      requireTasks(asked.capabilities);
      if (!areResponses(inputResponses))
        throw new RpcFault(rpcCode.invalidParams, 'params.inputResponses must be an object of results');
      return ask(asked, 'tasks/update', { inputResponses });
    },
  };
}

/** Who does not know of tasks cannot have one. */
export function requireTasks(capabilities: JsonObject): void {
  if (hasTasksCapability(capabilities)) return;
  throw new RpcFault(rpcCode.capabilityMissing, 'This is for clients that declare the tasks extension', {
    data: { requiredCapabilities: tasksCapability },
    status: 400,
  });
}

function noState(): string {
  throw new Error('A task has no state of a request');
}
