import { GatewayError } from '@behalf/gateway';
import { abortReason, toAbortSignal, type Fetch } from '@behalf/kernel';
import type { EndpointSettings } from '@behalf/settings';
import type OpenAI from 'openai';
import { version } from '../../version.ts';
import { LONGEST_ANSWER } from '../limits.ts';
import { createCallCollector } from './collectCalls.ts';
import { fieldsOf } from './fieldsOf.ts';
import type { ModelAnswer, ModelRequest } from './model.ts';
import { modelError } from './modelError.ts';

/** One answer of a model, as it comes. Fails with a MODEL_ code, or with the reason of the signal. */
export type AskModel = (
  endpoint: EndpointSettings,
  model: string,
  request: ModelRequest,
) => Promise<ModelAnswer>;

export function createAskModel(fetch: Fetch): AskModel {
  return async (endpoint, model, request) => {
    const { signal } = request;
    try {
      const chunks = await begin(fetch, endpoint, model, request);
      const answer = await read(chunks, request);
      // The library ends its stream without a word when it was aborted.
      if (signal.aborted) throw abortReason(signal);
      return answer;
    } catch (error) {
      if (signal.aborted) throw abortReason(signal);
      throw modelError(error);
    }
  };
}

type Chunks = AsyncIterable<OpenAI.ChatCompletionChunk>;

async function begin(
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
    fetch: (url, init) => fetch(url as string, { ...init, headers: { ...OWN, ...headers } }),
    ...{ apiKey: 'unused', adminAPIKey: null, organization: null, project: null, webhookSecret: null },
    // It would log what is said in a chat.
    logLevel: 'off',
    // The door out has its own deadlines. A second attempt would be paid twice.
    maxRetries: 0,
    timeout: LONGEST_TIMEOUT_MS,
  });
  const extra = Object.entries({ ...addParams, tools: tools.length > 0 ? tools : undefined });
  const wanted = Object.fromEntries(extra.filter(([name]) => !dropParams.includes(name)));
  const body = { ...wanted, model, messages, stream: true };
  const asked = body as unknown as OpenAI.ChatCompletionCreateParamsStreaming;
  return client.chat.completions.create(asked, { signal: toAbortSignal(signal) });
}

const OWN = {
  accept: 'text/event-stream, application/json',
  'content-type': 'application/json',
  'user-agent': `behalf/${version}`,
};
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

async function read(chunks: Chunks, { onText }: ModelRequest): Promise<ModelAnswer> {
  const collected = createCallCollector();
  let text = '';
  let finish: string | undefined;
  for await (const chunk of chunks) {
    const choice = choiceOf(chunk);
    const { content, tool_calls } = fieldsOf(choice['delta']);
    if (typeof content === 'string' && content !== '') {
      text += content;
      await onText(content);
    }
    if (text.length > LONGEST_ANSWER || !collected.add(tool_calls)) {
      return { text, calls: [], finish: 'length' };
    }
    const { finish_reason } = choice;
    if (typeof finish_reason === 'string') finish = finish_reason;
  }
  if (finish === undefined) throw cut();
  // Calls whose arguments end in the middle are none.
  if (finish === 'length') return { text, calls: [], finish };
  return { text, calls: collected.calls(), finish: 'stop' };
}

function cut(): GatewayError {
  return new GatewayError('MODEL_UNAVAILABLE', {
    detail: 'The model stopped in the middle of its answer. Try again later.',
  });
}

function choiceOf(chunk: unknown): Readonly<Record<string, unknown>> {
  const { choices } = fieldsOf(chunk);
  return fieldsOf(Array.isArray(choices) ? choices[0] : undefined);
}
