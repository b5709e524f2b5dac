import {
  sendTaskRequest,
  GatewayError,
  hasTasksCapability,
  tasksCapability,
  type JsonObject,
  type TaskMethod,
} from '@behalf/gateway';
import { createObserveRequest } from '../../rest/mcp/observeRequest.ts';
import type { McpRequest, Method } from '../mcpRequest.ts';
import { respondSignInRequired } from '../signInRequired.ts';
import { createMcpInbound } from '../mcpInbound.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import { isResponseMap } from './serverCallRunner.ts';
import { endpointKey } from '../clientEndpoint.ts';
import { type MethodParts } from './methodParts.ts';

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
