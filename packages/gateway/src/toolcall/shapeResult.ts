import { isDeepStrictEqual } from 'node:util';
import {
  type AnthropicContent,
  AnthropicImageType,
  type AnthropicResult,
  type Attachment,
  type OpenAiResult,
  type RawResult,
  type ResultFormat,
} from '@behalf/contracts';
import { isObject } from '@behalf/kernel';
import { toSingleLine } from '../tools/toolList.ts';
import type { JsonObject } from '../upstream/upstream.ts';

interface ResultShapes {
  raw: RawResult;
  openai: OpenAiResult;
  anthropic: AnthropicResult;
}

const EMPTY_RESULT_TEXT = 'The tool returned no content.';

/**
 * Converts a tool result to the format of a model API. Content that the format does not support is described in the text and
 * listed in `attachments`. Nothing is dropped, and no binary payload becomes text.
 */
export function shapeResult<F extends ResultFormat>(result: JsonObject, format: F): ResultShapes[F];
export function shapeResult(result: JsonObject, format: ResultFormat): ResultShapes[ResultFormat] {
  if (format === 'raw')
    return { ...result, content: listContentItems(result), isError: result['isError'] === true };
  return format === 'openai' ? toOpenAiResult(result) : toAnthropicResult(result);
}

function toOpenAiResult(result: JsonObject): OpenAiResult {
  const { contentBlocks, commonFields } = collectContent(result, () => undefined);
  const texts = contentBlocks.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const text = texts.join('\n\n') || EMPTY_RESULT_TEXT;
  // Tool messages of this API have no error flag.
  const content = commonFields.isError ? `The tool reported an error:\n${text}` : text;
  return { format: 'openai', message: { role: 'tool', content }, ...commonFields };
}

function toAnthropicResult(result: JsonObject): AnthropicResult {
  // The Messages API accepts only text in error results.
  const toImage = result['isError'] === true ? () => undefined : toAnthropicImage;
  const { contentBlocks, commonFields } = collectContent(result, toImage);
  const content: AnthropicContent[] =
    contentBlocks.length > 0 ? contentBlocks : [{ type: 'text', text: EMPTY_RESULT_TEXT }];
  return {
    format: 'anthropic',
    block: { type: 'tool_result', content, is_error: commonFields.isError },
    ...commonFields,
  };
}

type ImageConverter = (attachment: Attachment, data: string) => AnthropicContent | undefined;

function collectContent(result: JsonObject, toImage: ImageConverter) {
  const contentBlocks: AnthropicContent[] = [];
  const attachments: Attachment[] = [];
  // The Messages API rejects empty text blocks.
  const addText = (text: string) => text.trim() !== '' && contentBlocks.push({ type: 'text', text });
  const texts: string[] = [];
  for (const item of listContentItems(result)) {
    const block = parseContentBlock(item);
    if (block.kind === 'inline') {
      texts.push(block.text);
      addText(block.text);
      continue;
    }
    const image = block.data === undefined ? undefined : toImage(block.attachment, block.data);
    // Image blocks have no field for the URI.
    if (image && block.attachment.uri !== undefined) addText(`Resource ${block.attachment.uri}:`);
    if (image) contentBlocks.push(image);
    else addText(describeAttachment(block.attachment, attachments.push(block.attachment) - 1));
  }
  const { structuredContent, _meta } = result;
  addText(toStructuredText(structuredContent, texts) ?? '');
  const commonFields = {
    isError: result['isError'] === true,
    attachments,
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isObject(_meta) && { _meta }),
  };
  return { contentBlocks, commonFields };
}

/** Tolerates results without content, and a single block instead of an array. */
function listContentItems({ content }: JsonObject): unknown[] {
  if (content === undefined || content === null) return [];
  return Array.isArray(content) ? content : [content];
}

/** A content block of the server, untrusted. `inline` is text for the message. A `payload` must not become text. */
type ParsedContentBlock =
  | { readonly kind: 'inline'; readonly text: string }
  | { readonly kind: 'payload'; readonly attachment: Attachment; readonly data: string | undefined };

type Fields = Readonly<Record<string, unknown>>;

function parseContentBlock(block: unknown): ParsedContentBlock {
  const fields = toFields(block);
  switch (fields['type']) {
    case 'text':
      return typeof fields['text'] === 'string' ? { kind: 'inline', text: fields['text'] } : toUnknown(block);
    case 'image':
    case 'audio':
      return parseMedia(fields['type'], block, fields);
    case 'resource_link':
      return toPayload({ kind: 'resource_link', ...readCommonFields(fields), content: block });
    case 'resource':
      return parseResource(block, toFields(fields['resource']));
    default:
      return toUnknown(block);
  }
}

function parseMedia(kind: 'image' | 'audio', block: unknown, fields: Fields): ParsedContentBlock {
  const { data } = fields;
  if (typeof data !== 'string') return toUnknown(block);
  return toPayload(
    { kind, ...readCommonFields(fields), bytes: countDecodedBytes(data), content: block },
    data,
  );
}

/** Decided by the fields `text` and `blob`, not by the MIME type. */
function parseResource(block: unknown, resource: Fields): ParsedContentBlock {
  const common = readCommonFields(resource);
  if (typeof resource['text'] === 'string') {
    const type = common.mimeType === undefined ? '' : ` (${common.mimeType})`;
    return {
      kind: 'inline',
      text: `Resource ${common.uri ?? 'without a URI'}${type}:\n${resource['text']}`,
    };
  }
  const { blob } = resource;
  if (typeof blob !== 'string') return toUnknown(block);
  return toPayload({ kind: 'resource', ...common, bytes: countDecodedBytes(blob), content: block }, blob);
}

function toUnknown(block: unknown): ParsedContentBlock {
  return toPayload({ kind: 'unknown', ...readCommonFields(toFields(block)), content: block });
}

function toPayload(attachment: Attachment, data?: string): ParsedContentBlock {
  return { kind: 'payload', attachment, data };
}

function readCommonFields(fields: Fields): Pick<Attachment, 'mimeType' | 'uri' | 'name' | 'bytes'> {
  const { mimeType, uri, name, size } = fields;
  return {
    ...(typeof mimeType === 'string' && { mimeType: toSingleLine(mimeType, 127) }),
    ...(typeof uri === 'string' && { uri: toSingleLine(uri, 2_048) }),
    ...(typeof name === 'string' && { name: toSingleLine(name, 256) }),
    ...(typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 && { bytes: size }),
  };
}

/** The number of decoded bytes of a base64 text. */
function countDecodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

export type { AnthropicContent };

/** The Messages API rejects the whole request if an image is larger. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** An image block, if the Messages API supports the type and the size. */
function toAnthropicImage({ mimeType, bytes }: Attachment, data: string): AnthropicContent | undefined {
  const type = AnthropicImageType.safeParse(mimeType?.toLowerCase());
  if (!type.success || bytes === undefined || bytes > MAX_IMAGE_BYTES || !BASE64.test(data)) return undefined;
  return { type: 'image', source: { type: 'base64', media_type: type.data, data } };
}

const kindLabels = {
  image: 'Image',
  audio: 'Audio',
  resource: 'Embedded resource',
  resource_link: 'Link to a resource',
  unknown: 'Content',
} as const satisfies Record<Attachment['kind'], string>;

/** The text that replaces a payload: kind, type, size, and the index in `attachments`. */
function describeAttachment(attachment: Attachment, index: number): string {
  const { kind, mimeType, bytes, uri, name, content } = attachment;
  const details = [
    ...(kind === 'unknown' ? [`of unknown type ${typeName(content)}`] : []),
    ...(name === undefined ? [] : [`"${name}"`]),
    ...(mimeType === undefined ? [] : [mimeType]),
    ...(bytes === undefined ? [] : [`${bytes} bytes`]),
    ...(uri === undefined ? [] : [uri]),
  ];
  const suffix = details.length === 0 ? '' : ` ${details.join(', ')}`;
  return `[${kindLabels[kind]}${suffix}: see attachments[${index}]]`;
}

function typeName(content: unknown): string {
  const type: unknown =
    typeof content === 'object' && content !== null ? (content as { type?: unknown }).type : undefined;
  return typeof type === 'string' ? `"${toSingleLine(type, 64)}"` : '(unspecified)';
}

/** Shorter texts in this alphabet can be words or ids. */
const MIN_BASE64_LENGTH = 512;
const BASE64_OR_DATA_URL = /^(?:data:[^,]{0,256};base64,)?[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * `structuredContent` as text. Undefined if the server repeats it as a text block, as MCP 2025-06-18 recommends: then the model
 * already sees it.
 */
function toStructuredText(structured: unknown, texts: readonly string[]): string | undefined {
  if (structured === undefined || texts.some((text) => isSameJson(text, structured))) return undefined;
  return `Structured result:\n${JSON.stringify(structured, replaceBase64)}`;
}

function isSameJson(text: string, structured: unknown): boolean {
  const start = text.trimStart()[0];
  if (start !== '{' && start !== '[') return false;
  try {
    return isDeepStrictEqual(JSON.parse(text), structured);
  } catch {
    return false;
  }
}

/** Shortens base64 values for the model. The response keeps them in `structuredContent`. */
function replaceBase64(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length < MIN_BASE64_LENGTH || !BASE64_OR_DATA_URL.test(value))
    return value;
  return `[base64, ${countDecodedBytes(value)} bytes: see structuredContent]`;
}
