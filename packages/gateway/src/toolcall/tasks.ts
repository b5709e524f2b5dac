import { isObject } from '@behalf/kernel';
import type { AllowedServer } from '../access/allowedServer.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { ownerKey } from '../tools/catalog.ts';
import { type PolicyParts, decideTool } from '../tools/policy.ts';
import { filterCapabilities } from '../upstream/dialogue.ts';
import { stripGatewayKeys, stripGatewayMeta } from '../upstream/messages.ts';
import type { JsonObject, StartedTask, TaskMethod, UpstreamResponse } from '../upstream/upstream.ts';
import { type AuditContext, type AuditParts, recordAudit, reserveAuditSlot } from './audit.ts';
import {
  type PrepareTarget,
  type PreparedTarget,
  type SendParts,
  createPrepareTarget,
  fingerprintTarget,
  resolveAllowedServer,
} from './credential.ts';
import { sanitizeInputRequests } from './dialogue.ts';
import type { Inbound } from './inbound.ts';
import { type LoadToolsParts, loadTools } from './list.ts';
import { toCallerError, toNotFoundError } from './outcome.ts';
import { canRetry } from './retry.ts';
import { type UpstreamRequest, sendToServer } from './send.ts';

export interface TaskParts extends SendParts, LoadToolsParts, AuditParts, PolicyParts {}

/** A request about a task. The adapter has checked that the task belongs to the caller. */
export interface TaskRequest {
  readonly method: TaskMethod;
  readonly task: Omit<StartedTask, 'ttlMs'>;
  /** Answers to the task's requests for input. */
  readonly inputResponses?: JsonObject;
}

const auditActions = {
  'tasks/get': 'task.get',
  'tasks/update': 'task.update',
  'tasks/cancel': 'task.cancel',
} as const;

/**
 * Sends a request about a task. Hours may have passed since the call, so access to the server, availability of the tool and the
 * credential are checked again. If a check fails, the caller gets the same error as for a task that does not exist.
 */
export function sendTaskRequest(
  parts: TaskParts,
  taskRequest: TaskRequest,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  const { method, task } = taskRequest;
  const { server, tool } = task;
  return recordAudit(parts, inbound, { action: auditActions[method], server, tool }, (auditContext) =>
    executeTaskRequest(parts, taskRequest, { ...inbound, credential: task.credential }, auditContext),
  );
}

async function executeTaskRequest(
  parts: TaskParts,
  { method, task, inputResponses }: TaskRequest,
  inbound: Inbound,
  auditContext: AuditContext,
): Promise<UpstreamResponse> {
  const server = resolveAllowedServer(parts, inbound, task.server, 'MCP_TASK_NOT_FOUND');
  // Another server may have the name by now.
  if (server.id !== task.serverId) throw taskNotFound();
  auditContext.server = server;
  reserveAuditSlot(parts, server, auditContext);
  const obtain = createPrepareTarget(parts, server, inbound);
  await requireToolAvailable(parts, server, task.tool, inbound, obtain);
  const request: UpstreamRequest = {
    method,
    params: { taskId: task.id, ...(inputResponses && { inputResponses }) },
  };
  try {
    const prepared = await obtain();
    // A task id can be a bearer secret of the server that issued it, so it is sent to no other target.
    if (fingerprintTarget(prepared) !== task.targetFingerprint) throw taskNotFound();
    auditContext.isPrepared = true;
    const response = await sendToServer(parts, prepared, request, inbound, (error) =>
      canRetry(error, server) ? request : undefined,
    );
    return toTaskView(response.result, prepared, inbound);
  } catch (error) {
    const notFound = toNotFoundError(error, 'MCP_TASK_NOT_FOUND');
    // Same error as for a task that does not exist.
    if (notFound?.code === 'MCP_TASK_NOT_FOUND') throw taskNotFound(error);
    throw notFound ?? toCallerError(error, server);
  }
}

/** Checks that the tool still exists for the caller. The user approved the call when it was made. */
async function requireToolAvailable(
  parts: TaskParts,
  server: AllowedServer,
  name: string,
  inbound: Inbound,
  obtain: PrepareTarget,
): Promise<void> {
  const { principal } = inbound;
  let tool = parts.catalog.peek(server, ownerKey(server, principal))?.find(name);
  if (!tool) {
    try {
      tool = (await loadTools(parts, server, obtain, inbound, { refresh: 'if-old' })).find(name);
    } catch (error) {
      throw toCallerError(error, server);
    }
  }
  const decision = tool ? decideTool(parts.policy(), principal, server, tool) : 'absent';
  if (decision === 'absent' || (decision === 'ask' && principal.kind !== 'user')) throw taskNotFound();
}

function taskNotFound(cause?: unknown): GatewayError {
  return new GatewayError('MCP_TASK_NOT_FOUND', { cause });
}

/**
 * The server's answer about a task, sanitized like the answer to a call: no `behalf/` keys in the result and the error, and only
 * requests for input that this client supports.
 */
function toTaskView(taskResult: JsonObject, prepared: PreparedTarget, { peer }: Inbound): UpstreamResponse {
  const { result, error, inputRequests } = taskResult;
  const sanitized: Record<string, unknown> = {};
  if (isObject(result)) sanitized['result'] = stripGatewayMeta(result);
  if (isObject(error) && isObject(error['data']))
    sanitized['error'] = { ...error, data: stripGatewayKeys(error['data']) };
  if (inputRequests !== undefined)
    sanitized['inputRequests'] = sanitizeTaskRequests(inputRequests, prepared, peer?.capabilities);
  return { kind: 'result', result: { ...taskResult, ...sanitized }, json: undefined };
}

function sanitizeTaskRequests(
  inputRequests: unknown,
  prepared: PreparedTarget,
  declared: JsonObject = {},
): JsonObject {
  const { name, settings } = prepared.server;
  const sanitizedRequests =
    isObject(inputRequests) &&
    sanitizeInputRequests(inputRequests, filterCapabilities(declared, settings.relay), prepared);
  if (sanitizedRequests) return sanitizedRequests;
  throw new GatewayError('MCP_DIALOGUE_UNSUPPORTED', {
    detail: `${name} requests input before the task continues, and this client does not support the request. You can cancel the task.`,
  });
}
