import { type Cancellation, LightCancellation, abortReason, isObject } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import {
  type Dialogue,
  createFailureResponse,
  filterCapabilities,
  isServerRequestAllowed,
} from '../upstream/dialogue.ts';
import { stripGatewayMeta } from '../upstream/messages.ts';
import {
  type Era,
  type JsonObject,
  type ServerClaims,
  type UpstreamResponse,
  hasTasksCapability,
  isTaskMethod,
  tasksCapability,
} from '../upstream/upstream.ts';
import { MISSING_CAPABILITY, UpstreamError } from '../upstream/upstreamError.ts';
import type { PreparedTarget } from './credential.ts';
import type { Inbound, InboundPeer } from './inbound.ts';
import { maskJson } from './mask.ts';
import type { InputRequiredOutcome, ServerOutcome } from './outcome.ts';

/** During these requests the server may request input from the client. */
export const DIALOGUE_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
/** Requests for input in one answer, and during one call of a legacy client. */
const MAX_INPUT_REQUESTS = 16;
const URL_ELICITATION_REQUIRED = -32_042;

/**
 * The input that the server may request from the client during this request; undefined if none. The form depends on the era of
 * the server, not of the client.
 */
export function createDialogue(
  prepared: PreparedTarget,
  method: string,
  { peer }: Inbound,
  claims: ServerClaims,
): Dialogue | undefined {
  if (!peer || !(DIALOGUE_METHODS.has(method) || isTaskMethod(method))) return undefined;
  const { era } = claims;
  if (era === 'modern') {
    const forwarded = capabilitiesOf(prepared, peer, method);
    return {
      era,
      capabilities: supportsTasks(peer, method, claims) ? { ...forwarded, ...tasksCapability } : forwarded,
    };
  }
  const { sendRequest } = peer;
  if (!sendRequest) return undefined;
  return {
    era,
    capabilities: filterCapabilities(peer.capabilities, prepared.server.settings.relay),
    sendRequest: (requestMethod, params, signal) =>
      sendRequest(requestMethod, sanitizeRequest(requestMethod, params, prepared), signal),
  };
}

/** Whether the server may start a task for this request: client and server both declare the tasks extension. */
export function supportsTasks(
  { era, capabilities }: InboundPeer,
  method: string,
  claims: Pick<ServerClaims, 'era' | 'capabilities'>,
): boolean {
  return (
    era === 'modern' &&
    (method === 'tools/call' || isTaskMethod(method)) &&
    hasTasksCapability(capabilities) &&
    claims.era === 'modern' &&
    hasTasksCapability(claims.capabilities)
  );
}

/** The forwarded client capabilities. For tool calls of legacy clients, URL elicitation always works: the result names the page. */
function capabilitiesOf(
  { server }: PreparedTarget,
  { capabilities, era, sendRequest }: InboundPeer,
  method: string,
): JsonObject {
  const forwarded =
    era === 'modern' || sendRequest ? filterCapabilities(capabilities, server.settings.relay) : {};
  if (era === 'modern' || method !== 'tools/call') return forwarded;
  const { elicitation } = forwarded;
  return { ...forwarded, elicitation: { ...(isObject(elicitation) && elicitation), url: {} } };
}

/** Adds the answers of a repeated request. Legacy servers do not support them. */
export function withInputResponses(params: JsonObject, { peer }: Inbound, era: Era): JsonObject {
  if (era !== 'modern' || !peer?.retry) return params;
  const { inputResponses, requestState } = peer.retry;
  return {
    ...params,
    ...(inputResponses && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  };
}

/**
 * Converts an error that requests input to an outcome that this client supports. Undefined if the client does not support it:
 * then it stays an error. For a legacy client that can open pages, throws the error that names them (-32042).
 */
export function toInputRequired(
  error: unknown,
  prepared: PreparedTarget,
  method: string,
  { peer }: Inbound,
): UpstreamResponse | InputRequiredOutcome | undefined {
  if (!(error instanceof UpstreamError) || !peer || !DIALOGUE_METHODS.has(method)) return undefined;
  const requiredCapabilities = peer.era === 'modern' ? findMissingCapabilities(error, prepared) : undefined;
  if (requiredCapabilities)
    throw new GatewayError('MCP_DIALOGUE_UNSUPPORTED', { requiredCapabilities, cause: error });
  if (error.reason !== 'input_required') return undefined;
  const { result, rpc } = error.detail;
  if (result) return buildInputRequired(result, capabilitiesOf(prepared, peer, method), prepared);
  if (rpc?.code !== URL_ELICITATION_REQUIRED) return undefined;
  const capabilities = filterCapabilities(peer.capabilities, prepared.server.settings.relay);
  const elicitations = readUrlElicitations(rpc.data, URL_ELICITATION, prepared);
  if (!elicitations) return undefined;
  const canOpenPages = elicitations.every((each) =>
    isServerRequestAllowed(capabilities, 'elicitation/create', each),
  );
  if (peer.era === 'modern')
    return canOpenPages && !hasDeclinedPage(peer) ? toPageRequests(elicitations) : undefined;
  if (canOpenPages) throw new GatewayError('MCP_URL_ELICITATION_REQUIRED', { elicitations, cause: error });
  const urlElicitations = extractUrlElicitations(elicitations.map((params) => ({ params })));
  return urlElicitations && toUrlElicitationResult(method, prepared.server, urlElicitations);
}

const URL_ELICITATION: JsonObject = { elicitation: { url: {} } };

/** Whether the user declined a page. Then the gateway does not request it again. */
function hasDeclinedPage({ retry }: InboundPeer): boolean {
  return Object.values(retry?.inputResponses ?? {}).some(
    (response) => isObject(response) && response['action'] !== 'accept',
  );
}

/** Modern clients have no error for pages: each page becomes a request for input, and the client repeats its request. */
function toPageRequests(elicitations: readonly JsonObject[]): InputRequiredOutcome {
  const pageRequests = elicitations.map(({ elicitationId: _id, ...params }, index) => [
    `page-${index + 1}`,
    { method: 'elicitation/create', params },
  ]);
  return {
    kind: 'input_required',
    result: { inputRequests: Object.fromEntries(pageRequests) as JsonObject },
  };
}

function buildInputRequired(
  result: JsonObject,
  capabilities: JsonObject,
  prepared: PreparedTarget,
): InputRequiredOutcome | undefined {
  const { inputRequests = {}, requestState } = result;
  if (!isObject(inputRequests)) return undefined;
  const sanitized = sanitizeInputRequests(inputRequests, capabilities, prepared);
  const isEmptyRequest = sanitized && Object.keys(sanitized).length === 0;
  if (!sanitized || (isEmptyRequest && requestState === undefined)) return undefined;
  const fullResult = isEmptyRequest ? result : { ...result, inputRequests: sanitized };
  const masked = maskJson(stripGatewayMeta(fullResult), prepared);
  // The server's state is opaque and is returned unchanged, so it is not masked.
  const presented = requestState === undefined ? masked : { ...masked, requestState };
  return { kind: 'input_required', result: presented };
}

/** The requests for input as forwarded. Undefined if the client does not support one of them: then none is forwarded. */
export function sanitizeInputRequests(
  inputRequests: JsonObject,
  capabilities: JsonObject,
  prepared: PreparedTarget,
): Readonly<Record<string, JsonObject>> | undefined {
  const requests = Object.entries(inputRequests);
  if (requests.length > MAX_INPUT_REQUESTS) return undefined;
  const sanitized: Record<string, JsonObject> = {};
  for (const [id, request] of requests) {
    if (!isObject(request)) return undefined;
    const { method, params: originalParams } = request;
    const params = isObject(originalParams) ? originalParams : {};
    if (typeof method !== 'string' || !isServerRequestAllowed(capabilities, method, params)) return undefined;
    sanitized[id] = {
      ...request,
      ...(originalParams !== undefined && { params: sanitizeRequest(method, params, prepared) }),
    };
  }
  return sanitized;
}

/** The capabilities that the client must declare (-32021). Undefined if the gateway does not forward one of them. */
function findMissingCapabilities(
  { detail: { rpc } }: UpstreamError,
  { server }: PreparedTarget,
): JsonObject | undefined {
  const required =
    rpc?.code === MISSING_CAPABILITY && isObject(rpc.data) ? rpc.data['requiredCapabilities'] : undefined;
  if (!isObject(required)) return undefined;
  const forwardable = {
    ...filterCapabilities(required, server.settings.relay),
    ...(requiresOnlyTasks(required) && tasksCapability),
  };
  const names = Object.keys(required);
  return names.length > 0 && names.every((name) => name in forwardable) ? forwardable : undefined;
}

/** Tasks is the only extension that the gateway forwards. */
function requiresOnlyTasks(required: JsonObject): boolean {
  return hasTasksCapability(required) && Object.keys(required['extensions'] as JsonObject).length === 1;
}

/** The pages that the server requires (-32042). Undefined if the client does not support one of them. */
function readUrlElicitations(
  data: unknown,
  capabilities: JsonObject,
  prepared: PreparedTarget,
): readonly JsonObject[] | undefined {
  const entries = isObject(data) ? data['elicitations'] : undefined;
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > MAX_INPUT_REQUESTS)
    return undefined;
  const elicitations: JsonObject[] = [];
  for (const each of entries) {
    if (!isObject(each) || each['mode'] !== 'url') return undefined;
    if (!isServerRequestAllowed(capabilities, 'elicitation/create', each)) return undefined;
    elicitations.push(sanitizeRequest('elicitation/create', each, prepared));
  }
  return elicitations;
}

/**
 * A request for input as the user sees it. It names the server, because the client knows only the gateway. Presented tokens and
 * `behalf/` keys are removed.
 */
function sanitizeRequest(method: string, params: JsonObject, prepared: PreparedTarget): JsonObject {
  const { message } = params;
  const { name, settings } = prepared.server;
  const labeled =
    method === 'elicitation/create' && typeof message === 'string'
      ? { ...params, message: `The server “${settings.title ?? name}” asks: ${message}` }
      : params;
  return maskJson(stripGatewayMeta(labeled), prepared);
}

/** Legacy results have no `resultType`. Removed, so that the result cannot pass for a request for input. */
export function withoutResultType(response: UpstreamResponse): UpstreamResponse {
  if (response.result['resultType'] === undefined) return response;
  const { resultType: _kind, ...result } = response.result;
  return { kind: 'result', result, json: undefined };
}

/** How often a modern server may answer one request of a legacy client with requests for input. */
const MAX_ROUNDS = 8;

/** The parameters of the repeated request: the server's state, unchanged, and the answers. */
type RetryParams = NonNullable<InboundPeer['retry']>;

/**
 * Connects a legacy client to a modern server. The modern server answers with requests for input and keeps no state. The gateway
 * sends them to the client during the call and repeats the request with the answers, until the server returns a result.
 */
export async function runInputRequiredLoop(
  firstResponse: ServerOutcome,
  { method, prepared, inbound }: { method: string; prepared: PreparedTarget; inbound: Inbound },
  sendRound: (inbound: Inbound) => Promise<ServerOutcome>,
): Promise<ServerOutcome> {
  const { peer } = inbound;
  let response: ServerOutcome = firstResponse;
  let requestCount = 0;
  for (let round = 0; response.kind === 'input_required' && peer?.era === 'legacy'; round += 1) {
    const inputRequests = Object.entries(readInputRequests(response));
    requestCount += inputRequests.length;
    if (round >= MAX_ROUNDS || requestCount > MAX_INPUT_REQUESTS) throw toTooManyRoundsError(prepared);
    const retryParams = await collectInputResponses(inputRequests, { method, prepared, inbound, peer });
    if ('finalResponse' in retryParams) return retryParams.finalResponse;
    const { requestState } = response.result;
    response = await sendRound({
      ...inbound,
      peer: { ...peer, retry: { ...retryParams, ...(typeof requestState === 'string' && { requestState }) } },
    });
  }
  return response;
}

type InputRequestEntries = readonly (readonly [string, JsonObject])[];

interface InputRequestContext {
  readonly method: string;
  readonly prepared: PreparedTarget;
  readonly inbound: Inbound;
  readonly peer: InboundPeer;
}

async function collectInputResponses(
  inputRequests: InputRequestEntries,
  { method, prepared, inbound, peer }: InputRequestContext,
): Promise<RetryParams | { finalResponse: UpstreamResponse }> {
  if (inputRequests.length === 0) return {};
  const { sendRequest } = peer;
  const capabilities = filterCapabilities(peer.capabilities, prepared.server.settings.relay);
  const canSend = ([, { method: requestMethod, params }]: InputRequestEntries[number]) =>
    isServerRequestAllowed(capabilities, requestMethod, isObject(params) ? params : {});
  if (!sendRequest || !inputRequests.every(canSend)) {
    const urlElicitations = extractUrlElicitations(inputRequests.map(([, inputRequest]) => inputRequest));
    if (urlElicitations)
      return { finalResponse: toUrlElicitationResult(method, prepared.server, urlElicitations) };
    throw toUnansweredError(prepared);
  }
  const linkedAbort = createLinkedAbort(inbound.signal);
  try {
    const responses = inputRequests.map(async ([key, inputRequest]) => {
      const params = isObject(inputRequest['params']) ? inputRequest['params'] : {};
      return [
        key,
        await requestInput(sendRequest, String(inputRequest['method']), params, linkedAbort.signal, prepared),
      ] as const;
    });
    return { inputResponses: Object.fromEntries(await Promise.all(responses)) };
  } finally {
    // Cancels the remaining requests if one of them failed.
    linkedAbort.end();
  }
}

async function requestInput(
  sendRequest: NonNullable<InboundPeer['sendRequest']>,
  method: string,
  params: JsonObject,
  signal: Cancellation,
  prepared: PreparedTarget,
): Promise<JsonObject> {
  try {
    return await sendRequest(method, params, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // An elicitation that failed counts as cancelled by the user. Other requests have no such answer.
    const reply = createFailureResponse(method, method === 'elicitation/create' ? undefined : error);
    if ('result' in reply) return reply.result;
    throw toUnansweredError(prepared, error);
  }
}

function createLinkedAbort(parentSignal: Cancellation) {
  const signal = new LightCancellation();
  const abortWithParent = () => signal.abort(abortReason(parentSignal));
  if (parentSignal.aborted) abortWithParent();
  else parentSignal.addEventListener('abort', abortWithParent);
  return {
    signal,
    end() {
      parentSignal.removeEventListener('abort', abortWithParent);
      signal.abort(new DOMException('Another input request was not answered', 'AbortError'));
    },
  };
}

function readInputRequests({ result }: InputRequiredOutcome): Readonly<Record<string, JsonObject>> {
  const { inputRequests } = result;
  return isObject(inputRequests) ? (inputRequests as Readonly<Record<string, JsonObject>>) : {};
}

function toUnansweredError({ server }: PreparedTarget, cause?: unknown): GatewayError {
  return new GatewayError('MCP_DIALOGUE_UNSUPPORTED', {
    detail: `${server.name} requests input before it continues. This client does not support the request or did not answer it.`,
    cause,
  });
}

function toTooManyRoundsError({ server }: PreparedTarget): GatewayError {
  return new GatewayError('MCP_DIALOGUE_UNSUPPORTED', {
    detail: `${server.name} requested input too many times. The gateway stopped the call.`,
  });
}

/** A page that the server requires, with its message. */
interface UrlElicitation {
  readonly url: string;
  readonly message: string;
}

/** The requested pages, if only pages are requested. Undefined otherwise. */
function extractUrlElicitations(inputRequests: readonly JsonObject[]): readonly UrlElicitation[] | undefined {
  const elicitations: UrlElicitation[] = [];
  for (const { method = 'elicitation/create', params } of inputRequests) {
    const { mode, url, message } = (params ?? {}) as JsonObject;
    if (method !== 'elicitation/create' || mode !== 'url' || typeof url !== 'string') return undefined;
    elicitations.push({ url, message: typeof message === 'string' ? message : '' });
  }
  return elicitations.length === 0 ? undefined : elicitations;
}

/** A failed tool result that names the pages, for clients without URL elicitation. The user repeats the call. */
function toUrlElicitationResult(
  method: string,
  { name }: ServerSnapshot,
  elicitations: readonly UrlElicitation[],
): UpstreamResponse {
  const lines = elicitations.map(({ url, message }) => `${message} ${url}`.trim());
  const text = `${name} requires you to open a page first. Open the page, then repeat the request.\n${lines.join('\n')}`;
  if (method !== 'tools/call') throw new GatewayError('MCP_DIALOGUE_UNSUPPORTED', { detail: text });
  return {
    kind: 'result',
    result: {
      content: [{ type: 'text', text }],
      isError: true,
      _meta: { 'behalf/error': { code: 'MCP_DIALOGUE_UNSUPPORTED' } },
    },
    json: undefined,
  };
}
