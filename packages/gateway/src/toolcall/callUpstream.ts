import { hopHeader } from '@behalf/contracts';
import type { Lease } from '../connections/connectionManager.ts';
import { stripResponseMeta } from '../shaping/stripGatewayMeta.ts';
import type {
  UpstreamResponse,
  HeaderValues,
  JsonObject,
  UpstreamRequestOptions,
  Upstream,
} from '../upstream/upstream.ts';
import type { UpstreamTarget } from '../upstream/target.ts';
import type { Inbound, TraceContext } from './inbound.ts';
import { toInputRequired, createDialogue, withoutResultType, withInputResponses } from './dialogue.ts';
import { toStartedTask, requireTasks } from './startedTask.ts';
import { maskTokens } from './maskSecrets.ts';
import { createNotificationHandlers } from './notificationHandlers.ts';
import type { PreparedTarget } from './obtainCredential.ts';
import { getBearer } from './recoverFromRefusal.ts';

/** Progress may prolong a call, but not beyond this, unless the server's own timeout is longer. */
export const MAX_CALL_MS = 300_000;

export interface UpstreamRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** `mcp-param-*`, for servers that read arguments from headers. */
  readonly mirroredHeaders?: HeaderValues | undefined;
  /** Others of that kind, which go on as they came. Servers of the era before know none. */
  readonly passedHeaders?: HeaderValues | undefined;
}

/** One request with its deadline, progress and cancellation. The lease ends with it, and learns how it went. */
export async function callUpstream(
  lease: Lease,
  prepared: PreparedTarget,
  { method, params, mirroredHeaders, passedHeaders }: UpstreamRequest,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  let failure: unknown;
  try {
    const { upstream } = lease;
    const { era } = upstream.claims;
    const canPassHeaders = passedHeaders && era === 'modern';
    const options = requestOptions(
      prepared,
      inbound,
      canPassHeaders ? { ...passedHeaders, ...mirroredHeaders } : mirroredHeaders,
    );
    const pending = inbound.peer
      ? sendWithDialogue(upstream, options, prepared, { method, params }, inbound)
      : upstream.request(method, params, options);
    const response = await pending;
    const typedResponse = inbound.peer && era === 'legacy' ? withoutResultType(response) : response;
    return maskTokens(stripResponseMeta(typedResponse), prepared);
  } catch (error) {
    const task =
      inbound.peer && toStartedTask(error, prepared, { method, params }, inbound.peer, lease.upstream);
    if (task) return task;
    failure = error;
    const inputRequired = inbound.peer && toInputRequired(error, prepared, method, inbound);
    if (!inputRequired) throw error;
    return inputRequired;
  } finally {
    lease.release(failure);
  }
}

/** The same with somebody at the other end who can be asked. */
function sendWithDialogue(
  upstream: Upstream,
  options: Writable<UpstreamRequestOptions>,
  prepared: PreparedTarget,
  { method, params }: UpstreamRequest,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  const { claims } = upstream;
  requireTasks(method, upstream);
  const dialogue = createDialogue(prepared, method, inbound, claims);
  if (dialogue) options.dialogue = dialogue;
  return upstream.request(method, withInputResponses(params, inbound, claims.era), options);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export function requestOptions(
  prepared: PreparedTarget,
  inbound: Inbound,
  mirroredHeaders?: HeaderValues,
): Writable<UpstreamRequestOptions> {
  const { signal, trace, hop, onProgress, onLog } = inbound;
  const timeoutMs = prepared.server.settings.timeout;
  const target = 'holder' in prepared ? prepared.holder.target : prepared.server.target;
  const bearer = getBearer(prepared);
  const traceHeaders = trace && filterTrace(target, trace);
  const extraHeaders =
    traceHeaders || hop !== undefined || mirroredHeaders
      ? { ...mirroredHeaders, ...traceHeaders, ...(hop !== undefined && { [hopHeader]: hop }) }
      : undefined;
  // Member by member: it is made for every call, and most of it is absent from most of them.
  const options: Writable<UpstreamRequestOptions> = {
    signal,
    timeoutMs,
    totalMs: Math.max(timeoutMs, MAX_CALL_MS),
  };
  if (target.type !== 'stdio') options.headers = target.headers;
  if (bearer) options.bearer = bearer;
  if (extraHeaders) options.extraHeaders = extraHeaders;
  if (traceHeaders) options.meta = traceHeaders;
  return (onProgress ?? onLog)
    ? Object.assign(options, createNotificationHandlers(prepared, inbound))
    : options;
}

/** Baggage holds whatever callers put into it: it goes to the operator's own servers and to nobody else's. */
function filterTrace(target: UpstreamTarget, trace: TraceContext): Readonly<Record<string, string>> {
  const { baggage, ...withoutBaggage } = trace;
  const isOperatorServer = target.type === 'stdio' || target.audience === 'yaml-server';
  return isOperatorServer && baggage !== undefined ? { ...withoutBaggage, baggage } : withoutBaggage;
}
