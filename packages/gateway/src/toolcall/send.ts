import { type ErrorCode, hopHeader } from '@behalf/contracts';
import { type Random, rejectOnAbort } from '@behalf/kernel';
import { type AccessParts, type AllowedServer, checkAccess, resolveServer } from '../access/allowedServer.ts';
import type { OboTrust } from '../access/oboTrust.ts';
import type { ConnectionManager, Lease, LeaseOptions } from '../connections/connectionManager.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { AppTokens } from '../credentials/oauthTokens.ts';
import { type TokenRequestBudget, createTokenRequestBudget } from '../credentials/obo/bearer.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { usesGraph } from '../servers/definition.ts';
import type { Registry } from '../servers/registry.ts';
import { stripGatewayMeta, stripResponseMeta } from '../upstream/gatewayMeta.ts';
import { getLevelRank } from '../upstream/serverLog.ts';
import type { UpstreamTarget } from '../upstream/target.ts';
import type {
  HeaderValues,
  JsonObject,
  Upstream,
  UpstreamRequestOptions,
  UpstreamResponse,
} from '../upstream/upstream.ts';
import { type PreparedTarget, obtainCredential } from './credential.ts';
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
import {
  getBearer,
  isCredentialReplaced,
  isTokenRefused,
  retryAfterRefusal,
  runLastAttempt,
  toStepUpError,
} from './retry.ts';
import { requireTasks, toStartedTask } from './startedTask.ts';

export interface SendParts extends AccessParts {
  readonly registry: Pick<Registry, 'find'>;
  readonly credentials: Credentials;
  /** What is ours, for servers that everybody shares. */
  readonly appTokens: AppTokens;
  readonly vault: Pick<CredentialVault, 'withExclusiveUse'>;
  readonly connections: Pick<ConnectionManager, 'shared' | 'user'>;
  readonly random: Random;
  /** Whether users' own tokens may go where this server leads. */
  readonly oboTrust: Pick<OboTrust, 'isTrusted'>;
}

/** The server, once it is clear that this caller may use it. */
export function resolveAllowedServer(
  parts: SendParts,
  inbound: Inbound,
  name: string,
  denialCode: ErrorCode,
): AllowedServer {
  return checkAccess(
    parts,
    inbound.principal,
    resolveServer(parts.registry, inbound.principal, name),
    denialCode,
  );
}

/** What this caller presents to the server; throws `SignInRequired` when there is nothing to present. */
export async function prepareCredential(
  parts: SendParts,
  server: AllowedServer,
  inbound: Inbound,
  {
    budget = createTokenRequestBudget(),
    bypassesBreaker = false,
  }: { budget?: TokenRequestBudget; bypassesBreaker?: boolean } = {},
): Promise<PreparedTarget> {
  if (server.scope === 'app') {
    const bearer = await parts.appTokens.bearerFor(server, budget);
    return bearer ? { server, bearer } : { server };
  }
  // Before anything is obtained: who decides where it leads must be somebody who may.
  if (server.auth === 'obo' && !(await parts.oboTrust.isTrusted(server))) {
    throw new GatewayError('MCP_OBO_FORBIDDEN');
  }
  const pending = obtainCredential(parts.credentials, server, inbound, parts.random, budget);
  // A token may have to be exchanged for it, which goes on without who leaves.
  const canAbort = usesGraph(server.settings) || server.auth === 'oauth';
  const prepared = await (canAbort ? rejectOnAbort(pending, inbound.signal) : pending);
  const bearer = getBearer(prepared);
  if (bearer && 'holder' in prepared) {
    // Nothing is exchanged for a server that is left alone, and no connection opened without a token.
    if (!bypassesBreaker) parts.connections.user.checkBreaker(prepared.server, prepared.holder);
    const token = bearer.token();
    if (token instanceof Promise) await rejectOnAbort(token, inbound.signal);
  }
  return prepared;
}

/** What to send after a failure, if anything. */
type GetRetryRequest = (error: unknown) => UpstreamRequest | undefined | Promise<UpstreamRequest | undefined>;

/** One question, alone with its credential where that is asked for, and again for as long as the server asks back. */
export async function sendToServer(
  parts: SendParts,
  prepared: PreparedTarget,
  request: UpstreamRequest,
  inbound: Inbound,
  getRetryRequest: GetRetryRequest,
): Promise<ServerOutcome> {
  const exclusiveKey = 'holder' in prepared ? prepared.exclusiveKey : undefined;
  // Nobody holds a credential while a person thinks: each round is a request of its own.
  const sendRound = (roundInbound: Inbound) => {
    const sendNow = () => sendWithOneRetry(parts, prepared, request, roundInbound, getRetryRequest);
    return exclusiveKey
      ? parts.vault.withExclusiveUse(exclusiveKey, roundInbound.signal, sendNow)
      : sendNow();
  };
  const response = await sendRound(inbound);
  return response.kind === 'input_required'
    ? runInputRequiredLoop(response, { method: request.method, prepared, inbound }, sendRound)
    : response;
}

/** One question on one connection, and a second time at most. Who has left is not asked for. */
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
    if (inbound.signal.aborted) throw error;
    const stepUpError = toStepUpError(error, prepared);
    if (stepUpError) throw stepUpError;
    const retrySteps = {
      resend: async (retryTarget: PreparedTarget) =>
        maskTokens(await sendOnce(parts, retryTarget, request, inbound), prepared),
      prepareFresh: () =>
        prepareCredential(parts, prepared.server, inbound, {
          budget: { ...createTokenRequestBudget(), isRenewed: true },
        }),
    };
    if (isTokenRefused(error, prepared))
      return retryAfterRefusal(error, prepared, inbound.signal, retrySteps);
    // Signed in anew before anything was sent.
    if (error instanceof SignInRequired && isCredentialReplaced(prepared))
      return runLastAttempt(await retrySteps.prepareFresh(), retrySteps.resend);
    const retryRequest = await getRetryRequest(error);
    if (!retryRequest) throw error;
    return runLastAttempt(prepared, () => sendOnce(parts, prepared, retryRequest, inbound));
  }
}

async function sendOnce(
  { connections }: SendParts,
  prepared: PreparedTarget,
  request: UpstreamRequest,
  inbound: Inbound,
): Promise<ServerOutcome> {
  const lease = await leaseConnection(connections, prepared, { signal: inbound.signal });
  return await callUpstream(lease, prepared, request, inbound);
}

/** Whether this caller has what it takes to be let in at this server, as far as it can be known without asking there. */
export async function hasUsableCredential(
  parts: SendParts,
  name: string,
  inbound: Inbound,
): Promise<boolean> {
  try {
    await prepareCredential(
      parts,
      resolveAllowedServer(parts, inbound, name, 'MCP_SERVER_NOT_FOUND'),
      inbound,
    );
    return true;
  } catch {
    return false;
  }
}

/** Shared or the caller's own: the definition decides, and the types keep the two apart. */
export function leaseConnection(
  connections: Pick<ConnectionManager, 'shared' | 'user'>,
  prepared: PreparedTarget,
  options: LeaseOptions,
): Promise<Lease> {
  return 'holder' in prepared
    ? connections.user.lease(prepared.server, prepared.holder, options)
    : connections.shared.lease(prepared.server, options);
}

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
async function callUpstream(
  lease: Lease,
  prepared: PreparedTarget,
  { method, params, mirroredHeaders, passedHeaders }: UpstreamRequest,
  inbound: Inbound,
): Promise<ServerOutcome> {
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

/**
 * What a caller hears while a request is under way: as little of a token that the server repeats, and of words that only
 * we may say, as in the result.
 */
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
        // A session that others use too may say more than this caller wants to hear.
        if (getLevelRank(params['level']) >= minRank) onLog(sanitize(params));
      },
    }),
    ...(onLog && logLevel !== undefined && { logLevel }),
  };
}
