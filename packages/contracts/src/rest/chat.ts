import { z } from 'zod';
import { errorCodes } from '../errors/codes.ts';
import { Diagnostic } from '../errors/diagnostic.ts';
import { MAX_CHAT_TEXT_LENGTH } from './constants.ts';

const id = z.string().min(1).max(128);

/** `POST /api/chat`. */
export const ChatRequest = z.strictObject({
  /** Absent: a new conversation. */
  conversationId: id.optional(),
  text: z.string().trim().min(1).max(MAX_CHAT_TEXT_LENGTH),
  /** Name of an entry of `endpoints.custom`, and one of its models. Absent: the first. */
  endpoint: z.string().min(1).max(200).optional(),
  model: z.string().min(1).max(200).optional(),
  /** The servers whose tools the model sees. Absent: all of the caller. */
  servers: z.array(z.string().min(1).max(256)).max(1_000).optional(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

/** With which credential a server is asked: nobody's, the operator's, or one of the user. */
export const authorityKinds = ['none', 'static', 'user_values', 'user_token', 'exchanged'] as const;
export type AuthorityKind = (typeof authorityKinds)[number];

export const Authority = z.object({
  kind: z.enum(authorityKinds),
  /** Of an exchanged token. */
  scopes: z.array(z.string()).optional(),
  /** Whether all users share one connection. */
  shared: z.boolean(),
});
export type Authority = z.infer<typeof Authority>;

/** A result as a server gave it; what we read of it is little. */
export const ToolResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type ToolResult = z.infer<typeof ToolResult>;

/** What went wrong, as a person reads it. */
export const ChatProblem = z.object({
  code: z.enum(errorCodes),
  title: z.string(),
  detail: z.string(),
  errors: z.array(Diagnostic).optional(),
});
export type ChatProblem = z.infer<typeof ChatProblem>;

/** A sign-in that is missing, as `_meta["behalf/auth"]` of a result says it. */
export const ConnectNeeded = z.object({
  server: z.string(),
  title: z.string(),
  reason: z.string(),
  /** A path of this gateway; null where the sign-in cannot be begun here. */
  connectUrl: z.string().nullable(),
  /** What the sign-in has to reach, where it is known; with blanks between. */
  scopes: z.string().optional(),
});
export type ConnectNeeded = z.infer<typeof ConnectNeeded>;

/** `waiting`: for its user's word, or for the sign-in in `connect`. `cancelled`: stopped, and whether it ran is not known. */
export const callStates = ['running', 'waiting', 'done', 'failed', 'denied', 'cancelled'] as const;

/** What a piece of a result is. */
export const resultKinds = ['text', 'image', 'audio', 'file', 'link', 'structured', 'other'] as const;
export type ResultKind = (typeof resultKinds)[number];

/** A call of a tool, as it is shown and kept. */
export const ChatCall = z.object({
  callId: z.string(),
  server: z.string(),
  serverTitle: z.string(),
  tool: z.string(),
  toolTitle: z.string().optional(),
  arguments: z.record(z.string(), z.unknown()),
  authority: Authority.optional(),
  state: z.enum(callStates),
  result: ToolResult.optional(),
  /** The result was too large, and is not whole here. */
  isCut: z.boolean().optional(),
  /** What of it is missing, in whole or in part. */
  leftOut: z.array(z.enum(resultKinds)).optional(),
  /** Told while an answer is written: the next time there is less of the result than here. */
  keepsLess: z.boolean().optional(),
  problem: ChatProblem.optional(),
  connect: ConnectNeeded.optional(),
  durationMs: z.number().optional(),
});
export type ChatCall = z.infer<typeof ChatCall>;

/** What the model said and did, in its order. */
export const ChatPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('call'), call: ChatCall }),
]);
export type ChatPart = z.infer<typeof ChatPart>;

export const finishReasons = ['stop', 'stopped', 'length', 'rounds', 'error'] as const;
export type FinishReason = (typeof finishReasons)[number];

export const ChatMessage = z.discriminatedUnion('role', [
  z.object({ id: z.string(), role: z.literal('user'), text: z.string(), at: z.number() }),
  z.object({
    id: z.string(),
    role: z.literal('assistant'),
    parts: z.array(ChatPart),
    model: z.string(),
    /** Absent while it is being written, and where the process ended before the answer did. */
    finish: z.enum(finishReasons).optional(),
    problem: ChatProblem.optional(),
    at: z.number(),
  }),
]);
export type ChatMessage = z.infer<typeof ChatMessage>;

export const ConversationSummary = z.object({
  id: z.string(),
  title: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type ConversationSummary = z.infer<typeof ConversationSummary>;

/** `GET /api/chat`, the newest first. */
export const ConversationsView = z.object({
  conversations: z.array(ConversationSummary),
  next: z.string().nullable(),
});
export type ConversationsView = z.infer<typeof ConversationsView>;

/** The query of `GET /api/chat`. */
export const ConversationsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: z.string().min(1).max(300).optional(),
});

/** `GET /api/chat/:id`. */
export const ConversationView = ConversationSummary.extend({
  messages: z.array(ChatMessage),
  /** Whether an answer is being written just now, here or at another replica. */
  isRunning: z.boolean(),
});
export type ConversationView = z.infer<typeof ConversationView>;

/** `PATCH /api/chat/:id`. */
export const ConversationChange = z.strictObject({ title: z.string().trim().min(1).max(200) });
export type ConversationChange = z.infer<typeof ConversationChange>;

/** `POST /api/chat/:id/connects/:callId`: whether the sign-in that a call waits for is there, or not wanted. */
export const ConnectDecision = z.strictObject({ connected: z.boolean() });
export type ConnectDecision = z.infer<typeof ConnectDecision>;

/** `GET /api/chat/models`. */
export const ModelsView = z.object({
  endpoints: z.array(z.object({ name: z.string(), models: z.array(z.string()) })),
});
export type ModelsView = z.infer<typeof ModelsView>;

/** The events of `POST /api/chat`, by their name, with what stands in `data`. */
export const chatEvents = {
  /** A piece of the answer, to be appended. */
  text: z.object({ text: z.string() }),
  /** The model wants a tool; it is being called, unless an `approval` for it follows. */
  tool_call: z.object({ call: ChatCall }),
  progress: z.object({
    callId: z.string(),
    progress: z.number().optional(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
  /** How a call ended: the whole of it. */
  result: z.object({ call: ChatCall }),
  /** The call waits for its user until then; answered with `POST /api/chat/:id/approvals/:callId`. */
  approval: z.object({ callId: z.string(), expiresAt: z.number() }),
  /**
   * A sign-in is needed first. The call waits for it until `expiresAt`, and is made again after
   * `POST /api/chat/:id/connects/:callId`; without `expiresAt` nothing waits, and the `result` of the same call follows.
   */
  connect: z.object({ callId: z.string(), connect: ConnectNeeded, expiresAt: z.number().optional() }),
  /** The answer could not be finished. `done` follows. */
  error: z.object({ problem: ChatProblem }),
  /** The last event. */
  done: z.object({ conversation: ConversationSummary, message: ChatMessage, finish: z.enum(finishReasons) }),
} as const;
export type ChatEventName = keyof typeof chatEvents;
export type ChatEvent = {
  [N in ChatEventName]: { event: N; data: z.infer<(typeof chatEvents)[N]> };
}[ChatEventName];

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

const [text, call] = ChatPart.options;
const [userMessage, assistantMessage] = ChatMessage.options;

/**
 * A message as it is kept. What a model sent and what a server gave is not walked through: the seal says that nobody
 * changed it, and a conversation has many mebibytes of it.
 */
export const StoredChatMessage = z.discriminatedUnion('role', [
  userMessage,
  assistantMessage.extend({
    parts: z.array(
      z.discriminatedUnion('type', [
        text,
        call.extend({
          call: ChatCall.extend({
            arguments: z.custom<Record<string, unknown>>(isObject),
            result: z.custom<ToolResult>(isObject).optional(),
          }),
        }),
      ]),
    ),
  }),
]);
