import type {
  ApprovalView,
  ChatEvent,
  ChatRequest,
  ConversationSummary,
  ConversationsView,
  ConversationView,
  ModelsView,
} from '@behalf/contracts';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ApiError } from './apiError.ts';
import { readEvents } from './eventStream.ts';
import { readChatEvent } from './readChatEvent.ts';
import { request, segment, send } from './request.ts';

const ELSEWHERE_MS = 2_000;
const PAGE = 30;

export const modelsQuery = queryOptions({
  queryKey: ['chat', 'models'],
  queryFn: ({ signal }) => request<ModelsView>('/api/chat/models', { signal }),
  staleTime: 60_000,
});

export const conversationsQuery = infiniteQueryOptions({
  queryKey: ['chat', 'conversations'],
  queryFn: ({ signal, pageParam }) =>
    request<ConversationsView>(
      `/api/chat?${new URLSearchParams({ limit: String(PAGE), ...(pageParam !== '' && { after: pageParam }) }).toString()}`,
      { signal },
    ),
  initialPageParam: '',
  getNextPageParam: (page) => page.next ?? undefined,
  staleTime: 60_000,
});

export function conversationQuery(id: string) {
  return queryOptions({
    queryKey: ['chat', 'conversation', id],
    queryFn: ({ signal }) => request<ConversationView>(`/api/chat/${segment(id)}`, { signal }),
    // Somebody else's window, or another replica, is writing: there is no stream of it for this page.
    refetchInterval: ({ state }) => (state.data?.isRunning && !state.error ? ELSEWHERE_MS : false),
  });
}

export interface ChatStream {
  readonly conversationId: string;
  readonly events: AsyncIterable<ChatEvent>;
}

/** Says something, and listens to what comes back. */
export async function beginAnswer(body: ChatRequest, signal: AbortSignal): Promise<ChatStream> {
  const headers = { Accept: 'text/event-stream' };
  const response = await send('/api/chat', { method: 'POST', body, headers, signal });
  const [, named] = /\/api\/chat\/([^/?#]+)$/.exec(response.headers.get('content-location') ?? '') ?? [];
  const conversationId = named === undefined ? body.conversationId : decodeURIComponent(named);
  if (conversationId === undefined)
    throw new ApiError({ code: 'UNREADABLE', status: response.status, title: '', detail: '' });
  return { conversationId, events: chatEventsOf(response) };
}

/** A connection that ends before the last event is one that broke. */
async function* chatEventsOf(response: Response): AsyncGenerator<ChatEvent> {
  try {
    for await (const streamed of readEvents(response)) {
      const event = readChatEvent(streamed);
      if (event) yield event;
      if (event?.event === 'done') return;
    }
  } catch {
    // How it broke is told by the browser in words of its own; what to do is the same.
  }
  throw new ApiError({ code: 'OFFLINE', status: 0, title: '', detail: '' });
}

export function stopAnswer(id: string): Promise<unknown> {
  return send(`/api/chat/${segment(id)}/stop`, { method: 'POST', body: {} });
}

export function decideCall(id: string, callId: string, approve: boolean): Promise<ApprovalView> {
  return request(`/api/chat/${segment(id)}/approvals/${segment(callId)}`, {
    method: 'POST',
    body: { approve },
  });
}

/** Says of a call that waits for a sign-in that it is there, or that the answer shall go on without. */
export function tellConnected(id: string, callId: string, connected: boolean): Promise<unknown> {
  return send(`/api/chat/${segment(id)}/connects/${segment(callId)}`, {
    method: 'POST',
    body: { connected },
  });
}

export function renameConversation(id: string, title: string): Promise<ConversationSummary> {
  return request(`/api/chat/${segment(id)}`, { method: 'PATCH', body: { title } });
}

export function deleteConversation(id: string): Promise<unknown> {
  return send(`/api/chat/${segment(id)}`, { method: 'DELETE' });
}
