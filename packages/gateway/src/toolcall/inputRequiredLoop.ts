import { abortReason, LightCancellation, type Cancellation } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { filterCapabilities, isServerRequestAllowed, createFailureResponse } from '../upstream/dialogue.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import type { Inbound, InboundPeer } from './inbound.ts';
import { isObject, MAX_INPUT_REQUESTS } from './dialogue.ts';
import { extractUrlElicitations, toUrlElicitationResult } from './urlElicitation.ts';
import type { PreparedTarget } from './obtainCredential.ts';

/** How often a modern server may answer one request of a legacy caller with questions. */
const MAX_ROUNDS = 8;

/** What goes with the next round: the server's own state, byte for byte, and what the caller answered. */
type RetryParams = NonNullable<InboundPeer['retry']>;

/**
 * A modern server answers with questions and forgets the call; a legacy caller is asked while the call goes on. So the
 * caller is asked here, and the server gets the same request again with the answers, until it gives a result.
 */
export async function runInputRequiredLoop(
  firstResponse: UpstreamResponse,
  { method, prepared, inbound }: { method: string; prepared: PreparedTarget; inbound: Inbound },
  sendRound: (inbound: Inbound) => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const { peer } = inbound;
  let response = firstResponse;
  let requestCount = 0;
  for (let round = 0; response.isInputRequired && peer?.era === 'legacy'; round += 1) {
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
    // The others are taken back when one of them cannot be answered.
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
    // A page or form that nobody filled in is one that was closed; for the rest there is no such answer.
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

function readInputRequests({ result }: UpstreamResponse): Readonly<Record<string, JsonObject>> {
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
