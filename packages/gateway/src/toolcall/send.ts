import { hopHeader } from '@behalf/contracts';
import type { Lease, LeaseOptions } from '../connections/connectionManager.ts';
import { createTokenRequestBudget } from '../credentials/obo/bearer.ts';
import { stripGatewayMeta, stripResponseMeta } from '../upstream/messages.ts';
import { getLevelRank } from '../upstream/serverLog.ts';
import type { UpstreamTarget } from '../upstream/target.ts';
import type {
  HeaderValues,
  JsonObject,
  Upstream,
  UpstreamRequestOptions,
  UpstreamResponse,
} from '../upstream/upstream.ts';
import {
  type PreparedTarget,
  type SendParts,
  getBearer,
  getTarget,
  prepareCredential,
} from './credential.ts';
import {
  createDialogue,
  runInputRequiredLoop,
  toInputRequired,
  withInputResponses,
  withoutResultType,
} from './dialogue.ts';
import type { Inbound, TraceContext } from './inbound.ts';
import { maskJson, maskTokens } from './mask.ts';
import type { ServerOutcome } from './outcome.ts';
import { retryOnce } from './retry.ts';
import { requireTasks, toStartedTask } from './startedTask.ts';

export interface UpstreamRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** `mcp-param-*` headers that repeat arguments. */
  readonly mirroredHeaders?: HeaderValues | undefined;
  /** Other `mcp-param-*` headers of the caller. Forwarded to modern servers only. */
  readonly passedHeaders?: HeaderValues | undefined;
}

/** The request to send after a failure; undefined if nothing may be sent. */
type GetRetryRequest = (error: unknown) => UpstreamRequest | undefined | Promise<UpstreamRequest | undefined>;

/**
 * Sends a request and returns what the server answered. Legacy callers answer requests for input while the call runs. If
 * the credential is exclusive, only one request at a time uses it; the user answers between requests.
 */
export async function sendToServer(
  parts: SendParts,
  prepared: PreparedTarget,
  request: UpstreamRequest,
  inbound: Inbound,
  getRetryRequest: GetRetryRequest,
): Promise<ServerOutcome> {
  const exclusiveKey = 'holder' in prepared ? prepared.exclusiveKey : undefined;
  const sendRound = (roundInbound: Inbound) => {
    const sendNow = () => sendWithOneRetry(parts, prepared, request, roundInbound, getRetryRequest);
    return exclusiveKey
      ? parts.vault.withExclusiveUse(exclusiveKey, roundInbound.signal, sendNow)
      : sendNow();
  };
  const outcome = await sendRound(inbound);
  return outcome.kind === 'input_required'
    ? runInputRequiredLoop(outcome, { method: request.method, prepared, inbound }, sendRound)
    : outcome;
}

async function sendWithOneRetry(
  parts: SendParts,
  prepared: PreparedTarget,
  request: UpstreamRequest,
  inbound: Inbound,
  getRetryRequest: GetRetryRequest,
): Promise<ServerOutcome> {
  try {
    return await sendOnce(parts, prepared, request, inbound);
  } catch (error) {
    return retryOnce(error, prepared, inbound.signal, {
      attempt: async (retryTarget) =>
        // The server may repeat a token of the first attempt in its second answer.
        maskTokens(await sendOnce(parts, retryTarget, request, inbound), prepared),
      prepareFresh: () =>
        prepareCredential(parts, prepared.server, inbound, {
          budget: { ...createTokenRequestBudget(), isRenewed: true },
        }),
      getRetry: async (failure) => {
        const retryRequest = await getRetryRequest(failure);
        return retryRequest && (() => sendOnce(parts, prepared, retryRequest, inbound));
      },
    });
  }
}

/** Leases a shared or a user-scoped connection. */
export function leaseConnection(
  connections: SendParts['connections'],
  prepared: PreparedTarget,
  options: LeaseOptions,
): Promise<Lease> {
  return 'holder' in prepared
    ? connections.user.lease(prepared.server, prepared.holder, options)
    : connections.shared.lease(prepared.server, options);
}

/** Leases a connection, sends the request once, and reports the failure to the lease. */
async function sendOnce(
  { connections }: SendParts,
  prepared: PreparedTarget,
  { method, params, mirroredHeaders, passedHeaders }: UpstreamRequest,
  inbound: Inbound,
): Promise<ServerOutcome> {
  const lease = await leaseConnection(connections, prepared, { signal: inbound.signal });
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

/** Sends a request of a client that can answer requests for input. */
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

/** Progress extends the deadline of a call up to this, or up to the server's timeout if that is longer. */
export const MAX_CALL_MS = 300_000;

export function requestOptions(
  prepared: PreparedTarget,
  inbound: Inbound,
  mirroredHeaders?: HeaderValues,
): Writable<UpstreamRequestOptions> {
  const { signal, trace, hop, onProgress, onLog } = inbound;
  const timeoutMs = prepared.server.settings.timeout;
  const target = getTarget(prepared);
  const bearer = getBearer(prepared);
  const traceHeaders = trace && filterTrace(target, trace);
  const extraHeaders =
    traceHeaders || hop !== undefined || mirroredHeaders
      ? { ...mirroredHeaders, ...traceHeaders, ...(hop !== undefined && { [hopHeader]: hop }) }
      : undefined;
  // Assigned one by one: this runs for every call, and most fields are absent in most calls.
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

/** Callers put anything into baggage (W3C Baggage), so the gateway forwards it only to the operator's servers. */
function filterTrace(target: UpstreamTarget, trace: TraceContext): Readonly<Record<string, string>> {
  const { baggage, ...withoutBaggage } = trace;
  const isOperatorServer = target.type === 'stdio' || target.audience === 'yaml-server';
  return isOperatorServer && baggage !== undefined ? { ...withoutBaggage, baggage } : withoutBaggage;
}

/** Progress and log messages are masked like results: no presented tokens, no `behalf/` keys. */
function createNotificationHandlers(
  prepared: PreparedTarget,
  { onProgress, onLog, peer }: Inbound,
): Pick<UpstreamRequestOptions, 'onProgress' | 'onLog' | 'logLevel'> {
  const sanitize = (params: JsonObject) => maskJson(stripGatewayMeta(params), prepared);
  const logLevel = peer?.logLevel;
  const minRank = logLevel === undefined ? 0 : getLevelRank(logLevel);
  return {
    ...(onProgress && { onProgress: (params: JsonObject) => onProgress(sanitize(params)) }),
    ...(onLog && {
      onLog(params: JsonObject) {
        // On a shared session, another caller may have set a lower level.
        if (getLevelRank(params['level']) >= minRank) onLog(sanitize(params));
      },
    }),
    ...(onLog && logLevel !== undefined && { logLevel }),
  };
}
