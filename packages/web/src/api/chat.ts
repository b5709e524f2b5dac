import type {
  ApprovalView,
  ChatEvent,
  ChatEventName,
  ChatRequest,
  ConversationSummary,
  ConversationView,
  ConversationsView,
  ModelsView,
} from '@behalf/contracts';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type StreamEvent, readEvents } from './eventStream.ts';
import { ApiError, encodeSegment, requestJson, sendRequest } from './request.ts';

const REMOTE_ANSWER_POLL_INTERVAL_MS = 2_000;
const PAGE_SIZE = 30;

export const modelsQuery = queryOptions({
  queryKey: ['chat', 'models'],
  queryFn: ({ signal }) => requestJson<ModelsView>('/api/chat/models', { signal }),
  staleTime: 60_000,
});

export const conversationsQuery = infiniteQueryOptions({
  queryKey: ['chat', 'conversations'],
  queryFn: ({ signal, pageParam }) =>
    requestJson<ConversationsView>(
      `/api/chat?${new URLSearchParams({ limit: String(PAGE_SIZE), ...(pageParam !== '' && { after: pageParam }) }).toString()}`,
      { signal },
    ),
  initialPageParam: '',
  getNextPageParam: (page) => page.next ?? undefined,
  staleTime: 60_000,
});

export function conversationQuery(conversationId: string) {
  return queryOptions({
    queryKey: ['chat', 'conversation', conversationId],
    queryFn: ({ signal }) =>
      requestJson<ConversationView>(`/api/chat/${encodeSegment(conversationId)}`, { signal }),
    // Another window or another replica is writing the answer. This page has no stream of it and polls.
    refetchInterval: ({ state }) =>
      state.data?.isRunning && !state.error ? REMOTE_ANSWER_POLL_INTERVAL_MS : false,
  });
}

export interface ChatStream {
  readonly conversationId: string;
  readonly events: AsyncIterable<ChatEvent>;
}

/** Sends a message and opens the event stream of the answer. */
export async function startAnswer(body: ChatRequest, signal: AbortSignal): Promise<ChatStream> {
  const headers = { Accept: 'text/event-stream' };
  const response = await sendRequest('/api/chat', { method: 'POST', body, headers, signal });
  const [, encodedId] = /\/api\/chat\/([^/?#]+)$/.exec(response.headers.get('content-location') ?? '') ?? [];
  const conversationId = encodedId === undefined ? body.conversationId : decodeURIComponent(encodedId);
  if (conversationId === undefined)
    throw new ApiError({ code: 'UNREADABLE', status: response.status, title: '', detail: '' });
  return { conversationId, events: streamChatEvents(response) };
}

/** Yields the events of an answer. Throws OFFLINE if the stream ends before the `done` event. */
async function* streamChatEvents(response: Response): AsyncGenerator<ChatEvent> {
  try {
    for await (const streamEvent of readEvents(response)) {
      const event = readChatEvent(streamEvent);
      if (event) yield event;
      if (event?.event === 'done') return;
    }
  } catch {
    // The browser's error is not shown: every broken connection is handled in the same way.
  }
  throw new ApiError({ code: 'OFFLINE', status: 0, title: '', detail: '' });
}

export function stopAnswer(conversationId: string): Promise<unknown> {
  return sendRequest(`/api/chat/${encodeSegment(conversationId)}/stop`, { method: 'POST', body: {} });
}

export function decideApproval(
  conversationId: string,
  callId: string,
  approve: boolean,
): Promise<ApprovalView> {
  return requestJson(`/api/chat/${encodeSegment(conversationId)}/approvals/${encodeSegment(callId)}`, {
    method: 'POST',
    body: { approve },
  });
}

/** Reports whether the user signed in for a waiting call. If not, the answer continues without the call. */
export function reportConnected(
  conversationId: string,
  callId: string,
  isConnected: boolean,
): Promise<unknown> {
  return sendRequest(`/api/chat/${encodeSegment(conversationId)}/connects/${encodeSegment(callId)}`, {
    method: 'POST',
    body: { connected: isConnected },
  });
}

export function renameConversation(conversationId: string, title: string): Promise<ConversationSummary> {
  return requestJson(`/api/chat/${encodeSegment(conversationId)}`, { method: 'PATCH', body: { title } });
}

export function deleteConversation(conversationId: string): Promise<unknown> {
  return sendRequest(`/api/chat/${encodeSegment(conversationId)}`, { method: 'DELETE' });
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Checks the fields that the page reads without further checks. Other fields are trusted. */
const validators: Readonly<Record<ChatEventName, (data: JsonObject) => boolean>> = {
  text: ({ text }) => typeof text === 'string',
  tool_call: ({ call }) => isCall(call),
  progress: ({ callId }) => typeof callId === 'string',
  result: ({ call }) => isCall(call),
  approval: ({ callId, expiresAt }) => typeof callId === 'string' && typeof expiresAt === 'number',
  connect: ({ callId, connect }) => typeof callId === 'string' && hasStrings(connect, 'server', 'title'),
  error: ({ problem }) => hasStrings(problem, 'code', 'title', 'detail'),
  done: ({ conversation, message }) =>
    hasStrings(conversation, 'id', 'title') && isObject(message) && Array.isArray(message['parts']),
};

/** Parses a chat event. Returns undefined for invalid data and for unknown events of a newer gateway. */
export function readChatEvent({ event, data }: StreamEvent): ChatEvent | undefined {
  if (!Object.hasOwn(validators, event)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(data);
  } catch {
    return undefined;
  }
  const isValid = isObject(parsed) && validators[event as ChatEventName](parsed);
  return isValid ? ({ event, data: parsed } as ChatEvent) : undefined;
}

function isCall(value: unknown): boolean {
  return hasStrings(value, 'callId', 'server', 'tool', 'state') && isObject(value['arguments']);
}

function hasStrings(value: unknown, ...keys: readonly string[]): value is JsonObject {
  return isObject(value) && keys.every((name) => typeof value[name] === 'string');
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
