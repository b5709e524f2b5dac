import { GatewayError } from '../errors/gatewayError.ts';
import { stripGatewayMeta } from '../shaping/stripGatewayMeta.ts';
import { filterCapabilities, isServerRequestAllowed, type Dialogue } from '../upstream/dialogue.ts';
import { isTaskMethod, hasTasksCapability, tasksCapability } from '../upstream/tasks.ts';
import type { UpstreamResponse, Era, JsonObject, ServerClaims } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { Inbound, InboundPeer } from './call.ts';
import { linksOf, linksResult } from './links.ts';
import { maskJson } from './maskPresented.ts';
import type { Ready } from './obtainCredential.ts';

/** What these ask for, a server may ask back. Nothing else is ever a dialogue. */
export const DIALOGUES: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
/** Questions in one answer, and to a legacy caller in one call. */
export const MOST_QUESTIONS = 16;
const CAPABILITY_MISSING = -32_021;
const URL_ELICITATION_REQUIRED = -32_042;

/**
 * What this server may ask of this caller while the request runs; undefined where nobody can be asked. How it asks is of
 * its own era, whichever era the caller is of.
 */
export function dialogueOf(
  ready: Ready,
  method: string,
  { peer }: Inbound,
  claims: ServerClaims,
): Dialogue | undefined {
  if (!peer || !(DIALOGUES.has(method) || isTaskMethod(method))) return undefined;
  const { era } = claims;
  if (era === 'modern') {
    const own = capabilitiesOf(ready, peer, method);
    return { era, capabilities: takesTasks(peer, method, claims) ? { ...own, ...tasksCapability } : own };
  }
  const { ask } = peer;
  if (!ask) return undefined;
  return {
    era,
    capabilities: filterCapabilities(peer.capabilities, ready.server.settings.relay),
    sendRequest: (asked, params, signal) => ask(asked, presentable(asked, params, ready), signal),
  };
}

/** Whether this caller may get a task from this server: both of them said that they know the extension. */
export function takesTasks(
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
  { server }: Ready,
  { capabilities, era, ask }: InboundPeer,
  method: string,
): JsonObject {
  const own = era === 'modern' || ask ? filterCapabilities(capabilities, server.settings.relay) : {};
  if (era === 'modern' || method !== 'tools/call') return own;
  const { elicitation } = own;
  return { ...own, elicitation: { ...(isObject(elicitation) && elicitation), url: {} } };
}

/** The answers that a caller came back with. Only a modern server knows what to do with them. */
export function withRetry(params: JsonObject, { peer }: Inbound, era: Era): JsonObject {
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
export function askedBack(
  error: unknown,
  ready: Ready,
  method: string,
  { peer }: Inbound,
): UpstreamResponse | undefined {
  if (!(error instanceof UpstreamError) || !peer || !DIALOGUES.has(method)) return undefined;
  const requiredCapabilities = peer.era === 'modern' ? undeclared(error, ready) : undefined;
  if (requiredCapabilities)
    throw new GatewayError('MCP_DIALOGUE_UNSUPPORTED', { requiredCapabilities, cause: error });
  if (error.reason !== 'input_required') return undefined;
  const { result, rpc } = error.detail;
  if (result) return inputRequired(result, capabilitiesOf(ready, peer, method), ready);
  if (rpc?.code !== URL_ELICITATION_REQUIRED) return undefined;
  const capabilities = filterCapabilities(peer.capabilities, ready.server.settings.relay);
  const elicitations = addresses(rpc.data, ANY_PAGE, ready);
  if (!elicitations) return undefined;
  const canOpen = elicitations.every((each) =>
    isServerRequestAllowed(capabilities, 'elicitation/create', each),
  );
  if (peer.era === 'modern') return canOpen && !wasClosed(peer) ? pagesFirst(elicitations) : undefined;
  if (canOpen) throw new GatewayError('MCP_URL_ELICITATION_REQUIRED', { elicitations, cause: error });
  const links = linksOf(elicitations.map((params) => ({ params })));
  return links && linksResult(method, ready.server, links);
}

const ANY_PAGE: JsonObject = { elicitation: { url: {} } };

/** Whoever does not want to open a page is not asked once more. */
function wasClosed({ retry }: InboundPeer): boolean {
  return Object.values(retry?.inputResponses ?? {}).some(
    (response) => isObject(response) && response['action'] !== 'accept',
  );
}

/** The modern era has no error for it: the pages are questions, and the same request comes again afterwards. */
function pagesFirst(elicitations: readonly JsonObject[]): UpstreamResponse {
  const questions = elicitations.map(({ elicitationId: _id, ...params }, index) => [
    `page-${index + 1}`,
    { method: 'elicitation/create', params },
  ]);
  return {
    result: { inputRequests: Object.fromEntries(questions) as JsonObject },
    json: undefined,
    isInputRequired: true,
  };
}

function inputRequired(
  result: JsonObject,
  capabilities: JsonObject,
  ready: Ready,
): UpstreamResponse | undefined {
  const { inputRequests = {}, requestState } = result;
  if (!isObject(inputRequests)) return undefined;
  const asked = presentedQuestions(inputRequests, capabilities, ready);
  const isEmpty = asked && Object.keys(asked).length === 0;
  if (!asked || (isEmpty && requestState === undefined)) return undefined;
  const whole = isEmpty ? result : { ...result, inputRequests: asked };
  const masked = maskJson(stripGatewayMeta(whole), ready);
  // The server's own, for the server alone: it goes back byte for byte.
  const told = requestState === undefined ? masked : { ...masked, requestState };
  return { result: told, json: undefined, isInputRequired: true };
}

/** The questions as they are passed on; undefined when this caller cannot or may not be asked one of them: then none is. */
export function presentedQuestions(
  inputRequests: JsonObject,
  capabilities: JsonObject,
  ready: Ready,
): Readonly<Record<string, JsonObject>> | undefined {
  const questions = Object.entries(inputRequests);
  if (questions.length > MOST_QUESTIONS) return undefined;
  const asked: Record<string, JsonObject> = {};
  for (const [id, question] of questions) {
    if (!isObject(question)) return undefined;
    const { method, params: given } = question;
    const params = isObject(given) ? given : {};
    if (typeof method !== 'string' || !isServerRequestAllowed(capabilities, method, params)) return undefined;
    asked[id] = { ...question, ...(given !== undefined && { params: presentable(method, params, ready) }) };
  }
  return asked;
}

/** What the caller would have to declare; nothing where that would not help, because we do not pass all of it on. */
function undeclared({ detail: { rpc } }: UpstreamError, { server }: Ready): JsonObject | undefined {
  const wanted =
    rpc?.code === CAPABILITY_MISSING && isObject(rpc.data) ? rpc.data['requiredCapabilities'] : undefined;
  if (!isObject(wanted)) return undefined;
  const passed = {
    ...filterCapabilities(wanted, server.settings.relay),
    ...(wantsTasks(wanted) && tasksCapability),
  };
  const names = Object.keys(wanted);
  return names.length > 0 && names.every((name) => name in passed) ? passed : undefined;
}

/** That extension and no other: what else is wanted we do not pass on. */
function wantsTasks(wanted: JsonObject): boolean {
  return hasTasksCapability(wanted) && Object.keys(wanted['extensions'] as JsonObject).length === 1;
}

/** Where a caller is to be sent first (-32042), as far as they may be sent there. */
function addresses(data: unknown, capabilities: JsonObject, ready: Ready): readonly JsonObject[] | undefined {
  const listed = isObject(data) ? data['elicitations'] : undefined;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MOST_QUESTIONS) return undefined;
  const asked: JsonObject[] = [];
  for (const each of listed) {
    if (!isObject(each) || each['mode'] !== 'url') return undefined;
    if (!isServerRequestAllowed(capabilities, 'elicitation/create', each)) return undefined;
    asked.push(presentable('elicitation/create', each, ready));
  }
  return asked;
}

/**
 * A question as people see it: it says which server asks, because their client knows only us, and it holds neither a
 * token that the server repeats nor words that only we may say.
 */
function presentable(method: string, params: JsonObject, ready: Ready): JsonObject {
  const { message } = params;
  const { name, settings } = ready.server;
  const named =
    method === 'elicitation/create' && typeof message === 'string'
      ? { ...params, message: `The server “${settings.title ?? name}” asks: ${message}` }
      : params;
  return maskJson(stripGatewayMeta(named), ready);
}

/** -32021: a modern server does nothing for who cannot be asked what it would ask. */
export function wantsDialogue({ reason, detail }: UpstreamError): boolean {
  return reason === 'input_required' || detail.rpc?.code === CAPABILITY_MISSING;
}

/** A legacy result knows no kinds. One that names a kind all the same must not pass for a question. */
export function withoutKind(answer: UpstreamResponse): UpstreamResponse {
  if (answer.result['resultType'] === undefined) return answer;
  const { resultType: _kind, ...result } = answer.result;
  return { result, json: undefined };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
