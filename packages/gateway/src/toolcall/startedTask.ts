import { GatewayError } from '../errors/gatewayError.ts';
import { stripGatewayMeta } from '../upstream/gatewayMeta.ts';
import { type JsonObject, type Upstream, hasTasksCapability, isTaskMethod } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { InboundPeer } from './inbound.ts';
import { isObject, supportsTasks } from './dialogue.ts';
import { maskJson } from './mask.ts';
import type { TaskOutcome } from './outcome.ts';
import { type PreparedTarget, fingerprintTarget } from './credential.ts';

/** Its caller carries it around in a header, sealed. */
const MAX_TASK_ID_LENGTH = 2_048;

/**
 * The task that a server began instead of answering, for a caller who takes one. Undefined otherwise: then it is an
 * error, as every answer of a kind that was not asked for.
 */
export function toStartedTask(
  error: unknown,
  prepared: PreparedTarget,
  { method, params }: { readonly method: string; readonly params: JsonObject },
  peer: InboundPeer,
  { claims }: Pick<Upstream, 'claims'>,
): TaskOutcome | undefined {
  if (!(error instanceof UpstreamError) || error.reason !== 'task') return undefined;
  // What asks after a task begins none.
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

/**
 * That a task has begun, and nothing of what may be inside one: questions, a result and an error are told to who asks after it, as
 * whoever asked may be told them.
 */
function pickTaskFields(result: JsonObject): JsonObject {
  const picked: Record<string, unknown> = {};
  for (const member of taskFields) {
    const value = result[member];
    if (value === null || ['string', 'number'].includes(typeof value)) picked[member] = value;
  }
  const { _meta } = stripGatewayMeta(result);
  return { ...picked, ...(isObject(_meta) && { _meta }) };
}

/** A server that does not have the extension (any more) has no tasks, and another era means something else by these methods. */
export function requireTasks(method: string, { claims }: Pick<Upstream, 'claims'>): void {
  if (!isTaskMethod(method)) return;
  if (claims.era !== 'modern' || !hasTasksCapability(claims.capabilities))
    throw new GatewayError('MCP_TASK_NOT_FOUND');
}
