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
import type { JsonObject } from '../upstream/upstream.ts';

interface ResultShapes {
  raw: RawResult;
  openai: OpenAiResult;
  anthropic: AnthropicResult;
}

const EMPTY_RESULT_TEXT = 'The tool returned no content.';

/**
 * A tool's result in the form that a model's API takes. What that form cannot hold is named in the text and stands in
 * `attachments`; nothing is dropped, and no payload becomes text.
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
  // A tool message has no field that says so.
  const content = commonFields.isError ? `The tool reported an error:\n${text}` : text;
  return { format: 'openai', message: { role: 'tool', content }, ...commonFields };
}

function toAnthropicResult(result: JsonObject): AnthropicResult {
  // The Messages API takes nothing but text in a result that is an error.
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
  // An empty text block is refused by the Messages API and says nothing.
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
    // An image block has no place for where it came from.
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

/** A result without a list of content holds none; a single block in its place is content all the same. */
function listContentItems({ content }: JsonObject): unknown[] {
  if (content === undefined || content === null) return [];
  return Array.isArray(content) ? content : [content];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * One block of a result, read with care: the server chose every field. `inline` is text that belongs into the message
 * as it is; everything else has a payload that text must not carry.
 */
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

/** A resource with text is text; one with a blob is not, whatever its type says. */
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

/** These go into a sentence of ours: a server must not be able to write further lines of it. */
export function toSingleLine(text: string, maxLength: number): string {
  const line = text.slice(0, maxLength + 1).replaceAll(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ');
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}

/** How many bytes a base64 text stands for, without decoding it. */
function countDecodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

export type { AnthropicContent };

/** The Messages API refuses a larger image, and with it the whole conversation. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** An image block, for an image or a blob of a type that the Messages API takes; undefined for everything else. */
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

/** What the model reads in place of a payload: its kind, type and size, and where the payload is. */
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

/** A shorter text of this alphabet may well be a word or an id. */
const MIN_BASE64_LENGTH = 512;
const BASE64_OR_DATA_URL = /^(?:data:[^,]{0,256};base64,)?[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * `structuredContent` as text, when the model does not see it already: a server should repeat it as a text block
 * (2025-06-18, structured content), and twice the same helps nobody. Undefined when there is nothing to add.
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

/** The whole value stays in `structuredContent` of the answer; a prompt is no place for it. */
function replaceBase64(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length < MIN_BASE64_LENGTH || !BASE64_OR_DATA_URL.test(value))
    return value;
  return `[base64, ${countDecodedBytes(value)} bytes: see structuredContent]`;
}
