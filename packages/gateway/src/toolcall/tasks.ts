import type { AllowedServer } from '../access/allowedServer.ts';
import { createTokenRequestBudget } from '../credentials/obo/bearer.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type PolicyParts, decideTool } from '../tools/policy.ts';
import { filterCapabilities } from '../upstream/dialogue.ts';
import { stripGatewayKeys, stripGatewayMeta } from '../upstream/gatewayMeta.ts';
import type { JsonObject, StartedTask, TaskMethod, UpstreamResponse } from '../upstream/upstream.ts';
import { type AuditContext, type AuditParts, recordAudit, reserveAuditSlot } from './audit.ts';
import { type PreparedTarget, fingerprintTarget } from './credential.ts';
import { isObject, sanitizeInputRequests } from './dialogue.ts';
import type { Inbound } from './inbound.ts';
import { type LoadToolsParts, type PrepareTarget, loadTools, ownerKey } from './list.ts';
import { toCallerError, toNotFoundError } from './outcome.ts';
import { canRetry } from './retry.ts';
import {
  type SendParts,
  type UpstreamRequest,
  prepareCredential,
  resolveAllowedServer,
  sendToServer,
} from './send.ts';

export interface TaskParts extends SendParts, LoadToolsParts, AuditParts, PolicyParts {}

/** What somebody wants of a task that a call of theirs became. Whose task it is, the door has made sure of. */
export interface TaskRequest {
  readonly method: TaskMethod;
  readonly task: Omit<StartedTask, 'ttlMs'>;
  /** Answers to what the task asked. */
  readonly inputResponses?: JsonObject;
}

const auditActions = {
  'tasks/get': 'task.get',
  'tasks/update': 'task.update',
  'tasks/cancel': 'task.cancel',
} as const;

/**
 * Asks after a task, on the same way as a tool is called: hours may have passed, so everything is asked anew, whether they
 * may use the server and whether the tool exists for them, and the credential is obtained anew. Whatever is not so any
 * more is told like a task that never was.
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
  // One that was made anew under the same name is another.
  if (server.id !== task.serverId) throw taskNotFound();
  auditContext.server = server;
  reserveAuditSlot(parts, server, auditContext);
  const budget = createTokenRequestBudget();
  const obtain: PrepareTarget = (signal = inbound.signal) =>
    prepareCredential(parts, server, { ...inbound, signal }, { budget });
  await requireToolAvailable(parts, server, task.tool, inbound, obtain);
  const request: UpstreamRequest = {
    method,
    params: { taskId: task.id, ...(inputResponses && { inputResponses }) },
  };
  try {
    const prepared = await obtain();
    // The id may be all that it takes to read a result where it was begun: nobody else is shown it, nor what its user answers.
    if (fingerprintTarget(prepared) !== task.targetFingerprint) throw taskNotFound();
    auditContext.isPrepared = true;
    const response = await sendToServer(parts, prepared, request, inbound, (error) =>
      canRetry(error, server) ? request : undefined,
    );
    return toTaskView(response.result, prepared, inbound);
  } catch (error) {
    const notFound = toNotFoundError(error, 'MCP_TASK_NOT_FOUND');
    // In the same words as for one that is nobody's.
    if (notFound?.code === 'MCP_TASK_NOT_FOUND') throw taskNotFound(error);
    throw notFound ?? toCallerError(error, server);
  }
}

/** What its user had to approve was approved when it was called; whether the tool exists for them is asked each time. */
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
 * What a server says of a task, as its caller is told it. A result and an error inside are as little ours to sign as those
 * of a call, and a question is put as it would be in a call: to who can be asked just that, saying which server asks.
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
