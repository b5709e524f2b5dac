import { GatewayError } from '../errors/gatewayError.ts';
import { stripGatewayMeta } from '../shaping/stripGatewayMeta.ts';
import { filterCapabilities, isServerRequestAllowed, type Dialogue } from '../upstream/dialogue.ts';
import { isTaskMethod, hasTasksCapability, tasksCapability } from '../upstream/tasks.ts';
import type { UpstreamResponse, Era, JsonObject, ServerClaims } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { Inbound, InboundPeer } from './inbound.ts';
import { extractUrlElicitations, toUrlElicitationResult } from './urlElicitation.ts';
import { maskJson } from './maskSecrets.ts';
import type { PreparedTarget } from './obtainCredential.ts';

/** What these ask for, a server may ask back. Nothing else is ever a dialogue. */
export const DIALOGUE_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
/** Questions in one answer, and to a legacy caller in one call. */
export const MAX_INPUT_REQUESTS = 16;
const MISSING_CAPABILITY = -32_021;
const URL_ELICITATION_REQUIRED = -32_042;

/**
 * What this server may ask of this caller while the request runs; undefined where nobody can be asked. How it asks is of
 * its own era, whichever era the caller is of.
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

/** Whether this caller may get a task from this server: both of them said that they know the extension. */
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

/** A legacy caller of a tool is told of a page in the result when it cannot be sent there: that one may be asked for. */
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

/** The answers that a caller came back with. Only a modern server knows what to do with them. */
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
 * What a server wants to know before it goes on, as an answer for who can be asked just that. Undefined otherwise: then
 * it is an error. Throws where a legacy caller can be sent to an address first.
 */
export function toInputRequired(
  error: unknown,
  prepared: PreparedTarget,
  method: string,
  { peer }: Inbound,
): UpstreamResponse | undefined {
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

/** Whoever does not want to open a page is not asked once more. */
function hasDeclinedPage({ retry }: InboundPeer): boolean {
  return Object.values(retry?.inputResponses ?? {}).some(
    (response) => isObject(response) && response['action'] !== 'accept',
  );
}

/** The modern era has no error for it: the pages are questions, and the same request comes again afterwards. */
function toPageRequests(elicitations: readonly JsonObject[]): UpstreamResponse {
  const pageRequests = elicitations.map(({ elicitationId: _id, ...params }, index) => [
    `page-${index + 1}`,
    { method: 'elicitation/create', params },
  ]);
  return {
    result: { inputRequests: Object.fromEntries(pageRequests) as JsonObject },
    json: undefined,
    isInputRequired: true,
  };
}

function buildInputRequired(
  result: JsonObject,
  capabilities: JsonObject,
  prepared: PreparedTarget,
): UpstreamResponse | undefined {
  const { inputRequests = {}, requestState } = result;
  if (!isObject(inputRequests)) return undefined;
  const sanitized = sanitizeInputRequests(inputRequests, capabilities, prepared);
  const isEmptyRequest = sanitized && Object.keys(sanitized).length === 0;
  if (!sanitized || (isEmptyRequest && requestState === undefined)) return undefined;
  const fullResult = isEmptyRequest ? result : { ...result, inputRequests: sanitized };
  const masked = maskJson(stripGatewayMeta(fullResult), prepared);
  // The server's own, for the server alone: it goes back byte for byte.
  const presented = requestState === undefined ? masked : { ...masked, requestState };
  return { result: presented, json: undefined, isInputRequired: true };
}

/** The questions as they are passed on; undefined when this caller cannot or may not be asked one of them: then none is. */
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

/** What the caller would have to declare; nothing where that would not help, because we do not pass all of it on. */
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

/** That extension and no other: what else is wanted we do not pass on. */
function requiresOnlyTasks(required: JsonObject): boolean {
  return hasTasksCapability(required) && Object.keys(required['extensions'] as JsonObject).length === 1;
}

/** Where a caller is to be sent first (-32042), as far as they may be sent there. */
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
 * A question as people see it: it says which server asks, because their client knows only us, and it holds neither a
 * token that the server repeats nor words that only we may say.
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

/** -32021: a modern server does nothing for who cannot be asked what it would ask. */
export function needsClientInput({ reason, detail }: UpstreamError): boolean {
  return reason === 'input_required' || detail.rpc?.code === MISSING_CAPABILITY;
}

/** A legacy result knows no kinds. One that names a kind all the same must not pass for a question. */
export function withoutResultType(response: UpstreamResponse): UpstreamResponse {
  if (response.result['resultType'] === undefined) return response;
  const { resultType: _kind, ...result } = response.result;
  return { result, json: undefined };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
