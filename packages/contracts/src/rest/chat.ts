import { z } from 'zod';
import { errorCodes } from '../errors/codes.ts';
import { Diagnostic } from '../errors/diagnostic.ts';
import { MAX_CHAT_TEXT_LENGTH } from './constants.ts';

const id = z.string().min(1).max(128);

/** `POST /api/chat`. */
export const ChatRequest = z.strictObject({
  /** Absent: starts a new conversation. */
  conversationId: id.optional(),
  text: z.string().trim().min(1).max(MAX_CHAT_TEXT_LENGTH),
  /** An entry of `endpoints.custom`, and one of its models. Default: the first. */
  endpoint: z.string().min(1).max(200).optional(),
  model: z.string().min(1).max(200).optional(),
  /** The servers whose tools the model may use. Default: all servers of the caller. */
  servers: z.array(z.string().min(1).max(256)).max(1_000).optional(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

/** The credential of a call: none, the operator's, or the user's own in one of three forms. */
export const authorityKinds = ['none', 'static', 'user_values', 'user_token', 'exchanged'] as const;
export type AuthorityKind = (typeof authorityKinds)[number];

export const Authority = z.object({
  kind: z.enum(authorityKinds),
  /** The scopes of an exchanged token. */
  scopes: z.array(z.string()).optional(),
  /** Whether the connection is shared by all users. */
  shared: z.boolean(),
});
export type Authority = z.infer<typeof Authority>;

/** A result as the server returned it. Only these fields are interpreted. */
export const ToolResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
export type ToolResult = z.infer<typeof ToolResult>;

/** An error in a form for users. */
export const ChatProblem = z.object({
  code: z.enum(errorCodes),
  title: z.string(),
  detail: z.string(),
  errors: z.array(Diagnostic).optional(),
});
export type ChatProblem = z.infer<typeof ChatProblem>;

/** A missing sign-in, as in `_meta["behalf/auth"]` of a result. */
export const ConnectNeeded = z.object({
  server: z.string(),
  title: z.string(),
  reason: z.string(),
  /** A path of the gateway; null if the sign-in cannot be started here. */
  connectUrl: z.string().nullable(),
  /** The required scopes, if known, separated by spaces. */
  scopes: z.string().optional(),
});
export type ConnectNeeded = z.infer<typeof ConnectNeeded>;

/**
 * `waiting`: for an approval by the user, or for the sign-in in `connect`. `cancelled`: stopped; it is unknown
 * whether the tool ran.
 */
export const callStates = ['running', 'waiting', 'done', 'failed', 'denied', 'cancelled'] as const;

/** The kinds of result content. */
export const resultKinds = ['text', 'image', 'audio', 'file', 'link', 'structured', 'other'] as const;
export type ResultKind = (typeof resultKinds)[number];

/** A tool call as it is displayed and stored. */
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
  /** The result was too large and is truncated. */
  isCut: z.boolean().optional(),
  /** The kinds of content that are missing or truncated. */
  leftOut: z.array(z.enum(resultKinds)).optional(),
  /** Set while an answer is being written: less of this result will be stored than is shown now. */
  keepsLess: z.boolean().optional(),
  problem: ChatProblem.optional(),
  connect: ConnectNeeded.optional(),
  durationMs: z.number().optional(),
});
export type ChatCall = z.infer<typeof ChatCall>;

/** A part of an answer, in order. */
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
    /** Absent while the answer is being written, and if the process ended before it was complete. */
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
  /** Whether any replica is writing an answer. */
  isRunning: z.boolean(),
});
export type ConversationView = z.infer<typeof ConversationView>;

/** `PATCH /api/chat/:id`. */
export const ConversationChange = z.strictObject({ title: z.string().trim().min(1).max(200) });
export type ConversationChange = z.infer<typeof ConversationChange>;

/** `POST /api/chat/:id/connects/:callId`: whether the user completed or declined the sign-in that a call waits for. */
export const ConnectDecision = z.strictObject({ connected: z.boolean() });
export type ConnectDecision = z.infer<typeof ConnectDecision>;

/** `GET /api/chat/models`. */
export const ModelsView = z.object({
  endpoints: z.array(z.object({ name: z.string(), models: z.array(z.string()) })),
});
export type ModelsView = z.infer<typeof ModelsView>;

/** The events of `POST /api/chat` by name, with the content of `data`. */
export const chatEvents = {
  /** Text to append to the answer. */
  text: z.object({ text: z.string() }),
  /** The model requests a tool. The call runs, unless an `approval` event follows for it. */
  tool_call: z.object({ call: ChatCall }),
  progress: z.object({
    callId: z.string(),
    progress: z.number().optional(),
    total: z.number().optional(),
    message: z.string().optional(),
  }),
  /** The complete call after it ended. */
  result: z.object({ call: ChatCall }),
  /** The call waits for the user's decision until `expiresAt`. Decide with `POST /api/chat/:id/approvals/:callId`. */
  approval: z.object({ callId: z.string(), expiresAt: z.number() }),
  /**
   * The call needs a sign-in. With `expiresAt`, the call waits for it and is repeated after `POST
   * /api/chat/:id/connects/:callId`. Without, the `result` of the same call follows.
   */
  connect: z.object({ callId: z.string(), connect: ConnectNeeded, expiresAt: z.number().optional() }),
  /** The answer failed. `done` follows. */
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
 * A stored message. Content of models and servers is not validated: encryption guarantees that it is unchanged, and
 * a conversation may contain many megabytes of it.
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
