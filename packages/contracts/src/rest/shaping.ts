import { z } from 'zod';

/** `?format=` of a tool call. `raw` is the unchanged result of the server. */
export const ResultFormat = z.enum(['raw', 'openai', 'anthropic']);
export type ResultFormat = z.infer<typeof ResultFormat>;

/**
 * Content that a model message cannot contain. `content` is the block as the server sent it. The message refers to
 * it as `attachments[n]` by its index.
 */
export const Attachment = z.object({
  kind: z.enum(['image', 'audio', 'resource', 'resource_link', 'unknown']),
  mimeType: z.string().optional(),
  /** The decoded size. */
  bytes: z.number().int().nonnegative().optional(),
  uri: z.string().optional(),
  name: z.string().optional(),
  content: z.unknown(),
});
export type Attachment = z.infer<typeof Attachment>;

const shapedFields = {
  isError: z.boolean(),
  attachments: z.array(Attachment),
  structuredContent: z.unknown().optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
};

/** A tool message of Chat Completions, which contains text only. The caller adds `tool_call_id`. */
export const OpenAiResult = z.object({
  format: z.literal('openai'),
  message: z.object({ role: z.literal('tool'), content: z.string() }),
  ...shapedFields,
});
export type OpenAiResult = z.infer<typeof OpenAiResult>;

export const AnthropicImageType = z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
export type AnthropicImageType = z.infer<typeof AnthropicImageType>;

const AnthropicContent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string().min(1) }),
  z.object({
    type: z.literal('image'),
    source: z.object({ type: z.literal('base64'), media_type: AnthropicImageType, data: z.string() }),
  }),
]);
export type AnthropicContent = z.infer<typeof AnthropicContent>;

/** A `tool_result` block of the Messages API. The caller adds `tool_use_id`. */
export const AnthropicResult = z.object({
  format: z.literal('anthropic'),
  block: z.object({
    type: z.literal('tool_result'),
    content: z.array(AnthropicContent).min(1),
    is_error: z.boolean(),
  }),
  ...shapedFields,
});
export type AnthropicResult = z.infer<typeof AnthropicResult>;

/** An MCP result with `isError` always set. Additional fields of the server are kept. */
export const RawResult = z.looseObject({
  content: z.array(z.unknown()),
  structuredContent: z.unknown().optional(),
  isError: z.boolean(),
  _meta: z.record(z.string(), z.unknown()).optional(),
});
export type RawResult = z.infer<typeof RawResult>;
