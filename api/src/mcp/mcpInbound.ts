import { hopHeader } from '@behalf/contracts';
import type { Inbound, InboundPeer, Json } from '@behalf/gateway';
import { traceContext } from '../rest/mcp/inbound.ts';
import type { Asked } from './asked.ts';
import { isObject } from './message.ts';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export function isLogLevel(level: unknown): level is string {
  return typeof level === 'string' && LEVELS.includes(level);
}

/** What the MCP door knows of a request to a server. */
export function mcpInbound(
  asked: Asked,
  id: string,
  { ask, retry }: Pick<InboundPeer, 'ask' | 'retry'> = {},
): Inbound {
  const { caller, signal, headers, params, reply, logLevel, era, capabilities } = asked;
  const meta = params['_meta'];
  const hop = headers[hopHeader];
  // Of the request itself where it says so: what stands between may have put its own into the headers.
  const trace = (isObject(meta) && traceContext(meta as Asked['headers'])) || traceContext(headers);
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  const wantsProgress = typeof token === 'string' || typeof token === 'number';
  return {
    principal: caller,
    door: 'mcp',
    id: trace?.traceparent.slice(3, 35) ?? id,
    signal,
    ...(typeof hop === 'string' && { hop }),
    ...(trace && { trace }),
    ...(wantsProgress && { onProgress: progressFor(asked, token) }),
    ...(logLevel !== undefined && { onLog: logFrom(logLevel, reply) }),
    peer: { capabilities, era, ...(ask && { ask }), ...(retry && { retry }), ...(logLevel && { logLevel }) },
  };
}

/** Under the client's own token, and never backwards: what does not go up is no progress. */
function progressFor({ reply }: Asked, token: string | number): (params: Json) => void {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    if (typeof progress !== 'number' || progress <= last) return;
    last = progress;
    reply.notify('notifications/progress', {
      progressToken: token,
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    });
  };
}

function logFrom(wanted: string, reply: Asked['reply']): (params: Json) => void {
  const least = LEVELS.indexOf(wanted);
  return (params) => {
    if (LEVELS.indexOf(String(params['level'])) >= least) reply.notify('notifications/message', params);
  };
}
