import { hopHeader } from '@behalf/contracts';
import type { Lease } from '../connections/connectionManager.ts';
import { answerWithoutOurMeta } from '../shaping/withoutOurMeta.ts';
import type { Answer, HeaderValues, Json, RequestOptions } from '../upstream/upstream.ts';
import type { UpstreamTarget } from '../upstream/target.ts';
import type { Inbound, TraceContext } from './call.ts';
import { maskTokens } from './maskPresented.ts';
import type { Ready } from './obtainCredential.ts';
import { bearerOf } from './recoverFromRefusal.ts';

/** Progress may prolong a call, but not beyond this, unless the server's own timeout is longer. */
export const TOTAL_CAP_MS = 300_000;

export interface Question {
  readonly method: string;
  readonly params: Json;
  /** `mcp-param-*`, for servers that read arguments from headers. */
  readonly mirrored?: HeaderValues | undefined;
}

/** One request with its deadline, progress and cancellation. The lease ends with it, and learns how it went. */
export async function callUpstream(
  lease: Lease,
  ready: Ready,
  { method, params, mirrored }: Question,
  inbound: Inbound,
): Promise<Answer> {
  let failure: unknown;
  try {
    const options = requestOptions(ready, inbound, mirrored);
    const answer = answerWithoutOurMeta(await lease.upstream.request(method, params, options));
    return maskTokens(answer, ready);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    lease.release(failure);
  }
}

export function requestOptions(
  ready: Ready,
  { signal, trace, hop, onProgress, onLog }: Inbound,
  mirrored?: HeaderValues,
): RequestOptions {
  const timeoutMs = ready.server.settings.timeout;
  const target = 'holder' in ready ? ready.holder.target : ready.server.target;
  const bearer = bearerOf(ready);
  const told = trace && traceFor(target, trace);
  const extra =
    told || hop !== undefined || mirrored
      ? { ...mirrored, ...told, ...(hop !== undefined && { [hopHeader]: hop }) }
      : undefined;
  return {
    signal,
    timeoutMs,
    totalMs: Math.max(timeoutMs, TOTAL_CAP_MS),
    ...(target.type !== 'stdio' && { headers: target.headers }),
    ...(bearer && { bearer }),
    ...(extra && { extraHeaders: extra }),
    ...(told && { meta: told }),
    ...(onProgress && { onProgress }),
    ...(onLog && { onLog }),
  };
}

/** Baggage holds whatever callers put into it: it goes to the operator's own servers and to nobody else's. */
function traceFor(target: UpstreamTarget, trace: TraceContext): Readonly<Record<string, string>> {
  const { baggage, ...rest } = trace;
  const own = target.type === 'stdio' || target.audience === 'yaml-server';
  return own && baggage !== undefined ? { ...rest, baggage } : rest;
}
