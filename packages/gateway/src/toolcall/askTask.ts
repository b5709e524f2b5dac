import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { toolVerdict, type PolicyParts } from '../policy/toolOffered.ts';
import type { TaskMethod } from '../upstream/tasks.ts';
import type { UpstreamResponse, StartedTask, JsonObject } from '../upstream/upstream.ts';
import { ask, enter, prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import type { Question } from './callUpstream.ts';
import type { Allowed } from './checkAccess.ts';
import { holderKey, loadTools, type LoadParts, type Obtain } from './loadTools.ts';
import { placeOf } from './placeOf.ts';
import { recordAudit, requireRoom, type AuditParts, type Trail } from './recordAudit.ts';
import { mayRepeat } from './recoverFromRefusal.ts';
import { notFoundError } from './rpcResult.ts';
import { taskTold } from './taskTold.ts';
import { toldOf } from './toldOf.ts';

export interface TaskParts extends AskParts, LoadParts, AuditParts, PolicyParts {}

/** What somebody wants of a task that a call of theirs became. Whose task it is, the door has made sure of. */
export interface TaskAsked {
  readonly method: TaskMethod;
  readonly task: Omit<StartedTask, 'ttlMs'>;
  /** Answers to what the task asked. */
  readonly inputResponses?: JsonObject;
}

const actions = {
  'tasks/get': 'task.get',
  'tasks/update': 'task.update',
  'tasks/cancel': 'task.cancel',
} as const;

/**
 * Asks after a task, on the same way as a tool is called: hours may have passed, so everything is asked anew, whether they
 * may use the server and whether the tool exists for them, and the credential is obtained anew. Whatever is not so any
 * more is told like a task that never was.
 */
export function askTask(parts: TaskParts, asked: TaskAsked, inbound: Inbound): Promise<UpstreamResponse> {
  const { method, task } = asked;
  const { server, tool } = task;
  return recordAudit(parts, inbound, { action: actions[method], server, tool }, (trail) =>
    walk(parts, asked, { ...inbound, credential: task.credential }, trail),
  );
}

async function walk(
  parts: TaskParts,
  { method, task, inputResponses }: TaskAsked,
  inbound: Inbound,
  trail: Trail,
): Promise<UpstreamResponse> {
  const server = enter(parts, inbound, task.server, 'MCP_TASK_NOT_FOUND');
  // One that was made anew under the same name is another.
  if (server.id !== task.serverId) throw unknown();
  trail.server = server;
  requireRoom(parts, server, trail);
  const purse = createTokenRequestBudget();
  const obtain: Obtain = (signal = inbound.signal) =>
    prepare(parts, server, { ...inbound, signal }, { purse });
  await requireOffered(parts, server, task.tool, inbound, obtain, trail);
  const question: Question = {
    method,
    params: { taskId: task.id, ...(inputResponses && { inputResponses }) },
  };
  try {
    const ready = await obtain();
    // The id may be all that it takes to read a result where it was begun: nobody else is shown it, nor what its user answers.
    if (placeOf(ready) !== task.targetFingerprint) throw unknown();
    trail.isPrepared = true;
    const answer = await ask(parts, ready, question, inbound, (error) =>
      mayRepeat(error, server) ? question : undefined,
    );
    return taskTold(answer, ready, inbound);
  } catch (error) {
    const missing = notFoundError(error, 'MCP_TASK_NOT_FOUND');
    // In the same words as for one that is nobody's.
    if (missing?.code === 'MCP_TASK_NOT_FOUND') throw unknown(error);
    throw missing ?? toldOf(error, server, trail);
  }
}

/** What its user had to approve was approved when it was called; whether the tool exists for them is asked each time. */
async function requireOffered(
  parts: TaskParts,
  server: Allowed,
  name: string,
  inbound: Inbound,
  obtain: Obtain,
  trail: Trail,
): Promise<void> {
  const { principal } = inbound;
  let tool = parts.catalog.peek(server, holderKey(server, principal))?.find(name);
  if (!tool) {
    try {
      tool = (await loadTools(parts, server, obtain, inbound, { refresh: 'if-old' })).find(name);
    } catch (error) {
      throw toldOf(error, server, trail);
    }
  }
  const verdict = tool ? toolVerdict(parts.policy(), principal, server, tool) : 'absent';
  if (verdict === 'absent' || (verdict === 'ask' && principal.kind !== 'user')) throw unknown();
}

function unknown(cause?: unknown): GatewayError {
  return new GatewayError('MCP_TASK_NOT_FOUND', { cause });
}
