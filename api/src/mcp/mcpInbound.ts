import { hopHeader } from '@behalf/contracts';
import type { Inbound, InboundPeer, JsonObject } from '@behalf/gateway';
import { traceContext } from '../rest/mcp/inbound.ts';
import type { McpRequest } from './mcpRequest.ts';
import { logLevels } from './logLevels.ts';
import { isObject } from './rpcMessage.ts';
import type { Reply } from './stream/reply.ts';

/** What a client hears that never said how much it wants to hear. */
const DEFAULT_LOG_LEVEL = 'info';

/** What the MCP door knows of a request to a server. */
export function createMcpInbound(
  mcpRequest: McpRequest,
  id: string,
  ask?: InboundPeer['sendRequest'],
  retry?: InboundPeer['retry'],
): Inbound {
  const { caller, signal, headers, params, reply, logLevel, era, capabilities } = mcpRequest;
  const meta = params['_meta'];
  const hop = headers[hopHeader];
  // Of the request itself where it says so: what stands between may have put its own into the headers.
  const trace = (isObject(meta) && traceContext(meta as McpRequest['headers'])) || traceContext(headers);
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  const effectiveLevel = logLevel ?? (era === 'legacy' ? DEFAULT_LOG_LEVEL : undefined);
  // A modern client also hears what it would have to declare; a session that declared nothing has nobody to ask.
  const hasPeer = era === 'modern' || supportsServerRequests(capabilities) || logLevel !== undefined;
  // Written down member by member: for most calls most of it is absent.
  const inbound: Writable<Inbound> = {
    principal: caller,
    door: 'mcp',
    id: trace?.traceparent.slice(3, 35) ?? id,
    signal,
  };
  if (typeof hop === 'string') inbound.hop = hop;
  if (trace) inbound.trace = trace;
  if (typeof token === 'string' || typeof token === 'number')
    inbound.onProgress = createProgressHandler(reply, token);
  if (effectiveLevel !== undefined) inbound.onLog = createLogHandler(effectiveLevel, reply);
  if (hasPeer) {
    inbound.peer = {
      capabilities,
      era,
      ...(ask && { sendRequest: ask }),
      ...(retry && { retry }),
      ...(logLevel !== undefined && { logLevel }),
    };
  }
  return inbound;
}

/** Whether the client declared anything that a server could ask of it. */
export function supportsServerRequests({ elicitation, sampling, roots }: JsonObject): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Under the client's own token, and never backwards: what does not go up is no progress. */
function createProgressHandler(reply: Reply, token: string | number): (params: JsonObject) => void {
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

function createLogHandler(level: string, reply: Reply): (params: JsonObject) => void {
  const minIndex = logLevels.indexOf(level);
  return (params) => {
    if (logLevels.indexOf(String(params['level'])) >= minIndex) reply.notify('notifications/message', params);
  };
}
