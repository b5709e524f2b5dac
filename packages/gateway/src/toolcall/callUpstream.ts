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
import type { Inbound, TraceContext } from './call.ts';
import { askedBack, dialogueOf, withoutKind, withRetry } from './dialogue.ts';
import { begunTask, requireTasks } from './begunTask.ts';
import { maskTokens } from './maskPresented.ts';
import { heardOf } from './heardOf.ts';
import type { Ready } from './obtainCredential.ts';
import { bearerOf } from './recoverFromRefusal.ts';

/** Progress may prolong a call, but not beyond this, unless the server's own timeout is longer. */
export const TOTAL_CAP_MS = 300_000;

export interface Question {
  readonly method: string;
  readonly params: JsonObject;
  /** `mcp-param-*`, for servers that read arguments from headers. */
  readonly mirrored?: HeaderValues | undefined;
  /** Others of that kind, which go on as they came. Servers of the era before know none. */
  readonly passed?: HeaderValues | undefined;
}

/** One request with its deadline, progress and cancellation. The lease ends with it, and learns how it went. */
export async function callUpstream(
  lease: Lease,
  ready: Ready,
  { method, params, mirrored, passed }: Question,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  let failure: unknown;
  try {
    const { upstream } = lease;
    const { era } = upstream.claims;
    const goesOn = passed && era === 'modern';
    const options = requestOptions(ready, inbound, goesOn ? { ...passed, ...mirrored } : mirrored);
    const asked = inbound.peer
      ? conversing(upstream, options, ready, { method, params }, inbound)
      : upstream.request(method, params, options);
    const answer = await asked;
    const told = inbound.peer && era === 'legacy' ? withoutKind(answer) : answer;
    return maskTokens(stripResponseMeta(told), ready);
  } catch (error) {
    const task = inbound.peer && begunTask(error, ready, { method, params }, inbound.peer, lease.upstream);
    if (task) return task;
    failure = error;
    const questions = inbound.peer && askedBack(error, ready, method, inbound);
    if (!questions) throw error;
    return questions;
  } finally {
    lease.release(failure);
  }
}

/** The same with somebody at the other end who can be asked. */
function conversing(
  upstream: Upstream,
  options: Writable<UpstreamRequestOptions>,
  ready: Ready,
  { method, params }: Question,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  const { claims } = upstream;
  requireTasks(method, upstream);
  const dialogue = dialogueOf(ready, method, inbound, claims);
  if (dialogue) options.dialogue = dialogue;
  return upstream.request(method, withRetry(params, inbound, claims.era), options);
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export function requestOptions(
  ready: Ready,
  inbound: Inbound,
  mirrored?: HeaderValues,
): Writable<UpstreamRequestOptions> {
  const { signal, trace, hop, onProgress, onLog } = inbound;
  const timeoutMs = ready.server.settings.timeout;
  const target = 'holder' in ready ? ready.holder.target : ready.server.target;
  const bearer = bearerOf(ready);
  const told = trace && traceFor(target, trace);
  const extra =
    told || hop !== undefined || mirrored
      ? { ...mirrored, ...told, ...(hop !== undefined && { [hopHeader]: hop }) }
      : undefined;
  // Member by member: it is made for every call, and most of it is absent from most of them.
  const options: Writable<UpstreamRequestOptions> = {
    signal,
    timeoutMs,
    totalMs: Math.max(timeoutMs, TOTAL_CAP_MS),
  };
  if (target.type !== 'stdio') options.headers = target.headers;
  if (bearer) options.bearer = bearer;
  if (extra) options.extraHeaders = extra;
  if (told) options.meta = told;
  return (onProgress ?? onLog) ? Object.assign(options, heardOf(ready, inbound)) : options;
}

/** Baggage holds whatever callers put into it: it goes to the operator's own servers and to nobody else's. */
function traceFor(target: UpstreamTarget, trace: TraceContext): Readonly<Record<string, string>> {
  const { baggage, ...rest } = trace;
  const own = target.type === 'stdio' || target.audience === 'yaml-server';
  return own && baggage !== undefined ? { ...rest, baggage } : rest;
}
