import { isObject } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { stripGatewayMeta } from '../upstream/messages.ts';
import { type JsonObject, type Upstream, hasTasksCapability, isTaskMethod } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { InboundPeer } from './inbound.ts';
import { supportsTasks } from './dialogue.ts';
import { maskJson } from './mask.ts';
import type { TaskOutcome } from './outcome.ts';
import { type PreparedTarget, fingerprintTarget } from './credential.ts';

/** The MCP adapter seals the id and sends it in a header. */
const MAX_TASK_ID_LENGTH = 2_048;

/** The task that the server started instead of answering. Undefined if the client does not support tasks: then it is an error. */
export function toStartedTask(
  error: unknown,
  prepared: PreparedTarget,
  { method, params }: { readonly method: string; readonly params: JsonObject },
  peer: InboundPeer,
  { claims }: Pick<Upstream, 'claims'>,
): TaskOutcome | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'task') return undefined;
  // Requests about tasks start no task.
  if (method !== 'tools/call' || !supportsTasks(peer, method, claims)) return undefined;
  const result = error.detail.result ?? {};
  const { taskId: id, ttlMs } = result;
  if (typeof id !== 'string' || id === '' || id.length > MAX_TASK_ID_LENGTH) return undefined;
  const { server } = prepared;
  const credential = 'holder' in prepared ? prepared.credential : undefined;
  return {
    kind: 'task',
    result: maskJson(pickTaskFields(result), prepared),
    task: {
      server: server.name,
      serverId: server.id,
      targetFingerprint: fingerprintTarget(prepared),
      tool: String(params['name']),
      id,
      ...(credential !== undefined && { credential }),
      ttlMs: typeof ttlMs === 'number' ? ttlMs : null,
    },
  };
}

const taskFields = [
  'status',
  'statusMessage',
  'createdAt',
  'lastUpdatedAt',
  'ttlMs',
  'pollIntervalMs',
] as const;

/** Keeps only the status fields. The caller gets requests for input, the result and the error from `tasks/get`, sanitized. */
function pickTaskFields(result: JsonObject): JsonObject {
  const picked: Record<string, unknown> = {};
  for (const member of taskFields) {
    const value = result[member];
    if (value === null || ['string', 'number'].includes(typeof value)) picked[member] = value;
  }
  const { _meta } = stripGatewayMeta(result);
  return { ...picked, ...(isObject(_meta) && { _meta }) };
}

/** Rejects a task request if the server does not support the tasks extension. Legacy servers define other task methods. */
export function requireTasks(method: string, { claims }: Pick<Upstream, 'claims'>): void {
  if (!isTaskMethod(method)) return;
  if (claims.era !== 'modern' || !hasTasksCapability(claims.capabilities))
    throw new GatewayError('MCP_TASK_NOT_FOUND');
}
