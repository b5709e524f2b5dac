import type { Attachment } from '@behalf/contracts';

/**
 * One block of a result, read with care: the server chose every field. `inline` is text that belongs into the message
 * as it is; everything else has a payload that text must not carry.
 */
export type ParsedContentBlock =
  | { readonly kind: 'inline'; readonly text: string }
  | { readonly kind: 'payload'; readonly attachment: Attachment; readonly data: string | undefined };

type Fields = Readonly<Record<string, unknown>>;

export function parseContentBlock(block: unknown): ParsedContentBlock {
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
export function countDecodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
