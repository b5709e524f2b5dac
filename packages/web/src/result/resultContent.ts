import type { ToolResult } from '@behalf/contracts';
import { type JsonRecord, isEqualJson, isRecord } from './json.ts';
import { safeHref } from './safeHref.ts';

/** The displayed parts of a result in order, without duplicates. */
interface ResultContent {
  readonly isError: boolean;
  readonly blocks: readonly ResultBlock[];
  /** Wrapped, because null is a valid value. */
  readonly structured: { readonly value: unknown } | undefined;
}

export function toResultContent({ content, structuredContent, isError = false }: ToolResult): ResultContent {
  // Servers do not always follow the protocol.
  const blocks: ResultBlock[] = Array.isArray(content) ? content.map(parseResultBlock) : [];
  if (structuredContent === undefined) return { isError, blocks, structured: undefined };
  const unwrapped = unwrap(structuredContent);
  if (
    typeof unwrapped === 'string' &&
    blocks.some((block) => block.kind === 'text' && block.text === unwrapped)
  ) {
    return { isError, blocks, structured: undefined };
  }
  const remainingBlocks = blocks.filter(
    (block) => !duplicatesStructured(block, structuredContent, unwrapped),
  );
  return { isError, blocks: remainingBlocks, structured: { value: structuredContent } };
}

/** Some servers wrap a value that is not an object as `{ "result": ... }`. */
function unwrap(structured: unknown): unknown {
  if (!isRecord(structured)) return undefined;
  const names = Object.keys(structured);
  return names.length === 1 && names[0] === 'result' ? structured['result'] : undefined;
}

/** Servers repeat structured content as text for clients that do not support it. */
function duplicatesStructured(block: ResultBlock, structured: unknown, unwrapped: unknown): boolean {
  if (block.kind !== 'text') return false;
  let value: unknown;
  try {
    value = JSON.parse(block.text);
  } catch {
    return false;
  }
  return isEqualJson(value, structured) || (unwrapped !== undefined && isEqualJson(value, unwrapped));
}

/** A file in a result: base64 content and the server's name for it. */
export interface Payload {
  readonly base64: string;
  readonly mimeType: string;
  readonly name: string;
}

/** A displayed block of a result. */
export type ResultBlock =
  | { readonly kind: 'text'; readonly text: string; readonly name?: string }
  | { readonly kind: 'image' | 'audio' | 'file'; readonly payload: Payload }
  | {
      readonly kind: 'link';
      readonly name: string;
      readonly uri: string;
      /** Absent: the link is shown but cannot be followed. */
      readonly href: string | undefined;
      readonly description: string;
    }
  | { readonly kind: 'unknown'; readonly value: unknown };

/** Raster images only. SVG documents can contain scripts and URLs, and are never shown as an image. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const AUDIO_TYPE_PATTERN = /^audio\/[a-z0-9][a-z0-9.+-]{0,60}$/;
/** The limit in base64 characters. Larger content is offered as a download, because browsers limit data URLs. */
const MAX_INLINE_BASE64_LENGTH = 6_000_000;

/** Parses a block of a result. Unknown blocks are shown as JSON. */
export function parseResultBlock(block: unknown): ResultBlock {
  if (!isRecord(block)) return { kind: 'unknown', value: block };
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? { kind: 'text', text: block['text'] } : unknownBlock(block);
    case 'image':
    case 'audio':
      return payloadBlock(block, block['data']);
    case 'resource_link':
      return linkBlock(block);
    case 'resource':
      return isRecord(block['resource']) ? resourceBlock(block['resource'], block) : unknownBlock(block);
    default:
      return unknownBlock(block);
  }
}

function unknownBlock(value: unknown): ResultBlock {
  return { kind: 'unknown', value };
}

function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function payloadBlock(source: JsonRecord, data: unknown): ResultBlock {
  if (typeof data !== 'string') return unknownBlock(source);
  const mimeType = stringOrEmpty(source['mimeType']).toLowerCase().split(';')[0]?.trim() ?? '';
  const payload = { base64: data, mimeType, name: displayName(source) };
  if (data.length > MAX_INLINE_BASE64_LENGTH) return { kind: 'file', payload };
  if (IMAGE_TYPES.has(mimeType)) return { kind: 'image', payload };
  return { kind: AUDIO_TYPE_PATTERN.test(mimeType) ? 'audio' : 'file', payload };
}

function linkBlock(block: JsonRecord): ResultBlock {
  const { uri } = block;
  if (typeof uri !== 'string') return unknownBlock(block);
  const href = safeHref(uri);
  return {
    kind: 'link',
    name: displayName(block),
    uri: href ?? uri,
    href,
    description: stringOrEmpty(block['description']),
  };
}

function resourceBlock(resource: JsonRecord, block: JsonRecord): ResultBlock {
  const name = displayName(resource);
  if (typeof resource['text'] === 'string') return { kind: 'text', text: resource['text'], name };
  if (typeof resource['blob'] === 'string') return payloadBlock(resource, resource['blob']);
  return unknownBlock(block);
}

function displayName(source: JsonRecord): string {
  return stringOrEmpty(source['title']) || stringOrEmpty(source['name']) || stringOrEmpty(source['uri']);
}
