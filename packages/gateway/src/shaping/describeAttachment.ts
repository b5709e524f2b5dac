import type { Attachment } from '@behalf/contracts';
import { toSingleLine } from './contentBlock.ts';

const kindLabels = {
  image: 'Image',
  audio: 'Audio',
  resource: 'Embedded resource',
  resource_link: 'Link to a resource',
  unknown: 'Content',
} as const satisfies Record<Attachment['kind'], string>;

/** What the model reads in place of a payload: its kind, type and size, and where the payload is. */
export function describeAttachment(attachment: Attachment, index: number): string {
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
