import { errorKinds } from '@behalf/contracts';
import { EgressError, type EgressReason } from '@behalf/egress';
import { GatewayError, type JsonObject } from '@behalf/gateway';
import { type Cancellation, type Fetch, abortReason, isObject, toAbortSignal } from '@behalf/kernel';
import type { EndpointSettings } from '@behalf/settings';
import type OpenAI from 'openai';
import type { APIError } from 'openai';
import { version } from '../../runtime/version.ts';
import {
  MAX_ANSWER_LENGTH,
  MAX_CALLS_PER_ROUND,
  MAX_CALL_ARGUMENTS_LENGTH,
  MAX_CALL_NAME_LENGTH,
  MAX_ROUND_LENGTH,
} from './limits.ts';

/** A message of the OpenAI chat completions API. */
export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly tool_calls?: readonly ModelCall[];
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

interface ModelCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ModelTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

/** A tool call that a model requested. Untrusted: the tool may not exist and the arguments may not be JSON. */
export interface RequestedCall {
  readonly name: string;
  readonly args: string;
}

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: Cancellation;
  /** Receives each piece of text. The client reads the next piece after the promise resolves. */
  readonly onText: (text: string) => Promise<void>;
}

export interface ModelResponse {
  readonly text: string;
  readonly calls: readonly RequestedCall[];
  /** `length`: the response was cut off at a limit. */
  readonly finish: 'stop' | 'length';
}

/** Streams one response of a model. Fails with a `MODEL_` code, or with the reason of the signal. */
export type RequestCompletion = (
  endpoint: EndpointSettings,
  model: string,
  request: ModelRequest,
) => Promise<ModelResponse>;

export function createCompletionClient(fetch: Fetch): RequestCompletion {
  return async (endpoint, model, request) => {
    const { signal } = request;
    try {
      const chunks = await openStream(fetch, endpoint, model, request);
      const response = await readStream(chunks, request.onText);
      if (!signal.aborted) return response;
    } catch (error) {
      if (!signal.aborted) throw toModelError(error);
    }
    // The OpenAI library ends an aborted stream without an error, or with an error class of the library.
    throw abortReason(signal);
  };
}

type Chunks = AsyncIterable<OpenAI.ChatCompletionChunk>;

/** Sent instead of the headers of the library, which include environment variables and details of this machine. */
const FIXED_HEADERS = {
  accept: 'text/event-stream, application/json',
  'content-type': 'application/json',
  'user-agent': `behalf/${version}`,
};
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

async function openStream(
  fetch: Fetch,
  { baseURL, addParams, dropParams = [] }: EndpointSettings,
  model: string,
  { messages, tools, headers, signal }: ModelRequest,
): Promise<Chunks> {
  // Loaded on first use: most deployments configure no model.
  const { OpenAI } = await import('openai');
  const client = new OpenAI({
    baseURL,
    fetch: (url, init) => fetch(url as string, { ...init, headers: { ...FIXED_HEADERS, ...headers } }),
    // Without these values, the library would read its environment variables.
    apiKey: 'unused',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    // The library would log the messages of a chat.
    logLevel: 'off',
    // The egress has its own deadlines. A retry would be billed twice.
    maxRetries: 0,
    timeout: MAX_TIMEOUT_MS,
  });
  const optionalParams = Object.entries({ ...addParams, tools: tools.length > 0 ? tools : undefined });
  const body: object = {
    ...Object.fromEntries(optionalParams.filter(([name]) => !dropParams.includes(name))),
    model,
    messages,
    stream: true,
  };
  // The configuration may name parameters that the types of the library do not have.
  return client.chat.completions.create(body as OpenAI.ChatCompletionCreateParamsStreaming, {
    signal: toAbortSignal(signal),
  });
}

async function readStream(chunks: Chunks, onText: ModelRequest['onText']): Promise<ModelResponse> {
  const callCollector = createCallCollector();
  let text = '';
  let finish: string | undefined;
  for await (const chunk of chunks) {
    const choice = choiceOf(chunk);
    const { content, tool_calls } = asRecord(choice['delta']);
    if (typeof content === 'string' && content !== '') {
      text += content;
      await onText(content);
    }
    if (text.length > MAX_ANSWER_LENGTH || !callCollector.add(tool_calls)) {
      return { text, calls: [], finish: 'length' };
    }
    const { finish_reason } = choice;
    if (typeof finish_reason === 'string') finish = finish_reason;
  }
  if (finish === undefined) {
    throw new GatewayError('MODEL_UNAVAILABLE', {
      detail: 'The model stopped sending before the response was complete. Try again later.',
    });
  }
  // The arguments of a truncated response are incomplete, so its calls are dropped.
  if (finish === 'length') return { text, calls: [], finish };
  return { text, calls: callCollector.calls(), finish: 'stop' };
}

function choiceOf(chunk: unknown): JsonObject {
  const { choices } = asRecord(chunk);
  return asRecord(Array.isArray(choices) ? choices[0] : undefined);
}

/** Model APIs leave out documented members, so each level of a chunk may be missing. */
function asRecord(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

interface CallDelta {
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string;
  readonly args: string;
}

interface PartialCall {
  id: string | undefined;
  name: string;
  args: string;
}

/** Assembles tool calls from the deltas of a streamed response. */
export function createCallCollector() {
  const partialCalls: PartialCall[] = [];
  const byIndex = new Map<number, PartialCall>();
  let size = 0;

  /** Most model APIs identify the call of a delta by `index`. Some send each call in one delta, all with the same index. */
  function findPartialCall({ index, id }: CallDelta): PartialCall {
    const existing = index === undefined ? partialCalls.at(-1) : byIndex.get(index);
    if (existing && (id === undefined || existing.id === undefined || existing.id === id)) {
      existing.id ??= id;
      return existing;
    }
    const call: PartialCall = { id, name: '', args: '' };
    partialCalls.push(call);
    if (index !== undefined) byIndex.set(index, call);
    return call;
  }

  function isWithinLimits(call: PartialCall): boolean {
    return (
      partialCalls.length <= MAX_CALLS_PER_ROUND &&
      call.args.length <= MAX_CALL_ARGUMENTS_LENGTH &&
      call.name.length <= MAX_CALL_NAME_LENGTH &&
      size <= MAX_ROUND_LENGTH
    );
  }

  return {
    /** Returns false if the calls exceed a limit. */
    add(deltas: unknown): boolean {
      for (const value of Array.isArray(deltas) ? deltas : []) {
        const delta = parseDelta(value);
        const call = findPartialCall(delta);
        call.name += delta.name;
        call.args += delta.args;
        size += delta.name.length + delta.args.length;
        if (!isWithinLimits(call)) return false;
      }
      return true;
    },
    calls: (): readonly RequestedCall[] => partialCalls.map(({ name, args }) => ({ name, args })),
  };
}

function parseDelta(value: unknown): CallDelta {
  const { index, id, function: functionFields } = asRecord(value);
  const { name, arguments: args } = asRecord(functionFields);
  return {
    index: typeof index === 'number' ? index : undefined,
    id: typeof id === 'string' && id !== '' ? id : undefined,
    name: typeof name === 'string' ? name : '',
    args: typeof args === 'string' ? args : '',
  };
}

type ModelCode = 'MODEL_REFUSED' | 'MODEL_RATE_LIMITED' | 'MODEL_UNAVAILABLE';

/** Leaves out the error text of the model API: it may repeat the request or the API key. */
function toModelError(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const egressError = findEgressError(cause);
  if (egressError) return createEgressFailure(egressError.reason, cause);
  const { status, headers } = cause as Partial<APIError>;
  if (typeof status !== 'number') {
    return createModelError('MODEL_UNAVAILABLE', 'The response of the model API could not be read.', cause);
  }
  const retryAfterMs = status === 429 ? readRetryAfterMs(headers) : undefined;
  return createModelError(
    toModelCode(status),
    `The model API returned status ${status}.`,
    cause,
    retryAfterMs,
  );
}

/** The library wraps errors of the egress as `cause`. */
function findEgressError(error: unknown): EgressError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof EgressError) return current;
  }
  return undefined;
}

/** Refusals of the egress that the operator can correct. */
const REFUSAL_DETAILS: Partial<Record<EgressReason, string>> = {
  redirect_refused: 'The model API responded with a redirect, which the gateway does not follow.',
  certificate_untrusted: 'The certificate of the model API is not trusted.',
  domain_not_allowed: 'The configuration does not allow the domain of the model API.',
  private_address: 'The configuration does not allow the address of the model API.',
  bad_request: 'A header configured in endpoints.custom cannot be sent.',
};

const TIMEOUT_DETAILS: Partial<Record<EgressReason, string>> = {
  headers_timeout: 'The model API did not start responding in time.',
  connect_timeout: 'The model API did not accept a connection in time.',
  idle_timeout: 'The model API stopped sending before the response was complete.',
  total_timeout: 'The model API did not complete the response in time.',
};

function createEgressFailure(reason: EgressReason, cause: unknown): GatewayError {
  const refusal = REFUSAL_DETAILS[reason];
  if (refusal !== undefined) return createModelError('MODEL_REFUSED', refusal, cause);
  const outage = TIMEOUT_DETAILS[reason] ?? 'The model API cannot be reached.';
  return createModelError('MODEL_UNAVAILABLE', outage, cause);
}

function toModelCode(status: number): ModelCode {
  if (status === 429) return 'MODEL_RATE_LIMITED';
  // 408 Request Timeout and 409 Conflict are temporary.
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 409;
  return isRefusal ? 'MODEL_REFUSED' : 'MODEL_UNAVAILABLE';
}

const MAX_RETRY_AFTER_S = 3_600;

function readRetryAfterMs(headers: APIError['headers']): number | undefined {
  const seconds = Number(headers?.get('retry-after') ?? NaN);
  return seconds > 0 && seconds <= MAX_RETRY_AFTER_S ? Math.ceil(seconds * 1000) : undefined;
}

function createModelError(
  code: ModelCode,
  reason: string,
  cause: unknown,
  retryAfterMs?: number,
): GatewayError {
  const { title, action } = errorKinds[code];
  const detail = `${title}. ${reason} ${action}`;
  return new GatewayError(code, { detail, cause, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}
