import { GatewayError } from '@behalf/gateway';
import { abortReason, toAbortSignal, type Fetch } from '@behalf/kernel';
import type { EndpointSettings } from '@behalf/settings';
import type OpenAI from 'openai';
import { version } from '../../version.ts';
import { MAX_ANSWER_LENGTH } from '../limits.ts';
import { createCallCollector } from './callCollector.ts';
import { asRecord } from './asRecord.ts';
import type { ModelResponse, ModelRequest } from './model.ts';
import { toModelError } from './modelError.ts';

/** One answer of a model, as it comes. Fails with a MODEL_ code, or with the reason of the signal. */
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
      const response = await readStream(chunks, request);
      // The library ends its stream without a word when it was aborted.
      if (signal.aborted) throw abortReason(signal);
      return response;
    } catch (error) {
      if (signal.aborted) throw abortReason(signal);
      throw toModelError(error);
    }
  };
}

type Chunks = AsyncIterable<OpenAI.ChatCompletionChunk>;

async function openStream(
  fetch: Fetch,
  { baseURL, addParams, dropParams = [] }: EndpointSettings,
  model: string,
  { messages, tools, headers, signal }: ModelRequest,
): Promise<Chunks> {
  // Loaded for who has a model.
  const { OpenAI } = await import('openai');
  const client = new OpenAI({
    baseURL,
    // What is sent are our headers alone: the library would add variables of the environment and words about this machine.
    fetch: (url, init) => fetch(url as string, { ...init, headers: { ...FIXED_HEADERS, ...headers } }),
    ...{ apiKey: 'unused', adminAPIKey: null, organization: null, project: null, webhookSecret: null },
    // It would log what is said in a chat.
    logLevel: 'off',
    // The door out has its own deadlines. A second attempt would be paid twice.
    maxRetries: 0,
    timeout: MAX_TIMEOUT_MS,
  });
  const extra = Object.entries({ ...addParams, tools: tools.length > 0 ? tools : undefined });
  const params = Object.fromEntries(extra.filter(([name]) => !dropParams.includes(name)));
  const body = { ...params, model, messages, stream: true };
  const streamingBody = body as unknown as OpenAI.ChatCompletionCreateParamsStreaming;
  return client.chat.completions.create(streamingBody, { signal: toAbortSignal(signal) });
}

const FIXED_HEADERS = {
  accept: 'text/event-stream, application/json',
  'content-type': 'application/json',
  'user-agent': `behalf/${version}`,
};
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

async function readStream(chunks: Chunks, { onText }: ModelRequest): Promise<ModelResponse> {
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
  if (finish === undefined) throw truncatedError();
  // Calls whose arguments end in the middle are none.
  if (finish === 'length') return { text, calls: [], finish };
  return { text, calls: callCollector.calls(), finish: 'stop' };
}

function truncatedError(): GatewayError {
  return new GatewayError('MODEL_UNAVAILABLE', {
    detail: 'The model stopped sending before the response was complete. Try again later.',
  });
}

function choiceOf(chunk: unknown): Readonly<Record<string, unknown>> {
  const { choices } = asRecord(chunk);
  return asRecord(Array.isArray(choices) ? choices[0] : undefined);
}
