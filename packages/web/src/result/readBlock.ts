import { isRecord, type JsonRecord } from './isRecord.ts';
import { safeHref } from './safeHref.ts';

/** A file inside a result: its content in base64, and what its server calls it. */
export interface Payload {
  readonly base64: string;
  readonly mimeType: string;
  readonly name: string;
}

/** A piece of a result, as it is shown. */
export type Block =
  | { readonly kind: 'text'; readonly text: string; readonly name?: string }
  | { readonly kind: 'image' | 'audio' | 'file'; readonly payload: Payload }
  | {
      readonly kind: 'link';
      readonly name: string;
      readonly uri: string;
      /** Absent: it is shown, and leads nowhere. */
      readonly href: string | undefined;
      readonly description: string;
    }
  | { readonly kind: 'unknown'; readonly value: unknown };

/** Pictures of points. SVG is a document with scripts and addresses of its own, and is never shown as a picture. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const SOUND = /^audio\/[a-z0-9][a-z0-9.+-]{0,60}$/;
/** In base64. What is larger is a file to be saved: a page that holds it in an address stumbles. */
const LARGEST_SHOWN = 6_000_000;

/** What a block of a result is, judged by what stands in it; what is not understood is shown as it is. */
export function readBlock(block: unknown): Block {
  if (!isRecord(block)) return { kind: 'unknown', value: block };
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string' ? { kind: 'text', text: block['text'] } : unknown(block);
    case 'image':
    case 'audio':
      return payloadBlock(block, block['data']);
    case 'resource_link':
      return linkBlock(block);
    case 'resource':
      return isRecord(block['resource']) ? resourceBlock(block['resource'], block) : unknown(block);
    default:
      return unknown(block);
  }
}

function unknown(value: unknown): Block {
  return { kind: 'unknown', value };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function payloadBlock(described: JsonRecord, data: unknown): Block {
  if (typeof data !== 'string') return unknown(described);
  const mimeType = textOf(described['mimeType']).toLowerCase().split(';')[0]?.trim() ?? '';
  const payload = { base64: data, mimeType, name: nameOf(described) };
  if (data.length > LARGEST_SHOWN) return { kind: 'file', payload };
  if (PICTURES.has(mimeType)) return { kind: 'image', payload };
  return { kind: SOUND.test(mimeType) ? 'audio' : 'file', payload };
}

function linkBlock(block: JsonRecord): Block {
  const { uri } = block;
  if (typeof uri !== 'string') return unknown(block);
  const href = safeHref(uri);
  return {
    kind: 'link',
    name: nameOf(block),
    uri: href ?? uri,
    href,
    description: textOf(block['description']),
  };
}

function resourceBlock(resource: JsonRecord, block: JsonRecord): Block {
  const name = nameOf(resource);
  if (typeof resource['text'] === 'string') return { kind: 'text', text: resource['text'], name };
  if (typeof resource['blob'] === 'string') return payloadBlock(resource, resource['blob']);
  return unknown(block);
}

function nameOf(described: JsonRecord): string {
  return textOf(described['title']) || textOf(described['name']) || textOf(described['uri']);
}
