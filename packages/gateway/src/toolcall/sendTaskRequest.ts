import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { decideTool, type PolicyParts } from '../policy/decideTool.ts';
import type { TaskMethod } from '../upstream/tasks.ts';
import type { UpstreamResponse, StartedTask, JsonObject } from '../upstream/upstream.ts';
import { sendToServer, resolveAllowedServer, prepareCredential, type SendParts } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';
import type { UpstreamRequest } from './callUpstream.ts';
import type { AllowedServer } from './checkAccess.ts';
import { ownerKey, loadTools, type LoadToolsParts, type PrepareTarget } from './loadTools.ts';
import { fingerprintTarget } from './targetFingerprint.ts';
import { recordAudit, reserveAuditSlot, type AuditParts, type AuditContext } from './recordAudit.ts';
import { canRetry } from './recoverFromRefusal.ts';
import { toNotFoundError } from './rpcErrors.ts';
import { toTaskView } from './taskView.ts';
import { toCallerError } from './toCallerError.ts';

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
  await requireToolAvailable(parts, server, task.tool, inbound, obtain, auditContext);
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
    return toTaskView(response, prepared, inbound);
  } catch (error) {
    const notFound = toNotFoundError(error, 'MCP_TASK_NOT_FOUND');
    // In the same words as for one that is nobody's.
    if (notFound?.code === 'MCP_TASK_NOT_FOUND') throw taskNotFound(error);
    throw notFound ?? toCallerError(error, server, auditContext);
  }
}

/** What its user had to approve was approved when it was called; whether the tool exists for them is asked each time. */
async function requireToolAvailable(
  parts: TaskParts,
  server: AllowedServer,
  name: string,
  inbound: Inbound,
  obtain: PrepareTarget,
  auditContext: AuditContext,
): Promise<void> {
  const { principal } = inbound;
  let tool = parts.catalog.peek(server, ownerKey(server, principal))?.find(name);
  if (!tool) {
    try {
      tool = (await loadTools(parts, server, obtain, inbound, { refresh: 'if-old' })).find(name);
    } catch (error) {
      throw toCallerError(error, server, auditContext);
    }
  }
  const decision = tool ? decideTool(parts.policy(), principal, server, tool) : 'absent';
  if (decision === 'absent' || (decision === 'ask' && principal.kind !== 'user')) throw taskNotFound();
}

function taskNotFound(cause?: unknown): GatewayError {
  return new GatewayError('MCP_TASK_NOT_FOUND', { cause });
}
