import type { Attachment } from '@behalf/contracts';

/**
 * One block of a result, read with care: the server chose every field. `inline` is text that belongs into the message
 * as it is; everything else has a payload that text must not carry.
 */
export type Block =
  | { readonly kind: 'inline'; readonly text: string }
  | { readonly kind: 'payload'; readonly attachment: Attachment; readonly data: string | undefined };

type Fields = Readonly<Record<string, unknown>>;

export function readBlock(block: unknown): Block {
  const fields = fieldsOf(block);
  switch (fields['type']) {
    case 'text':
      return typeof fields['text'] === 'string' ? { kind: 'inline', text: fields['text'] } : unknown(block);
    case 'image':
    case 'audio':
      return media(fields['type'], block, fields);
    case 'resource_link':
      return payload({ kind: 'resource_link', ...named(fields), content: block });
    case 'resource':
      return embedded(block, fieldsOf(fields['resource']));
    default:
      return unknown(block);
  }
}

function media(kind: 'image' | 'audio', block: unknown, fields: Fields): Block {
  const { data } = fields;
  if (typeof data !== 'string') return unknown(block);
  return payload({ kind, ...named(fields), bytes: decodedBytes(data), content: block }, data);
}

/** A resource with text is text; one with a blob is not, whatever its type says. */
function embedded(block: unknown, resource: Fields): Block {
  const about = named(resource);
  if (typeof resource['text'] === 'string') {
    const type = about.mimeType === undefined ? '' : ` (${about.mimeType})`;
    return {
      kind: 'inline',
      text: `Resource ${about.uri ?? 'without an address'}${type}:\n${resource['text']}`,
    };
  }
  const { blob } = resource;
  if (typeof blob !== 'string') return unknown(block);
  return payload({ kind: 'resource', ...about, bytes: decodedBytes(blob), content: block }, blob);
}

function unknown(block: unknown): Block {
  return payload({ kind: 'unknown', ...named(fieldsOf(block)), content: block });
}

function payload(attachment: Attachment, data?: string): Block {
  return { kind: 'payload', attachment, data };
}

function named(fields: Fields): Pick<Attachment, 'mimeType' | 'uri' | 'name' | 'bytes'> {
  const { mimeType, uri, name, size } = fields;
  return {
    ...(typeof mimeType === 'string' && { mimeType: oneLine(mimeType, 127) }),
    ...(typeof uri === 'string' && { uri: oneLine(uri, 2_048) }),
    ...(typeof name === 'string' && { name: oneLine(name, 256) }),
    ...(typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 && { bytes: size }),
  };
}

/** These go into a sentence of ours: a server must not be able to write further lines of it. */
export function oneLine(text: string, longest: number): string {
  const line = text.slice(0, longest + 1).replaceAll(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ');
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

/** How many bytes a base64 text stands for, without decoding it. */
export function decodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
