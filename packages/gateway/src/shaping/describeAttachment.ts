import type { Attachment } from '@behalf/contracts';
import { oneLine } from './contentBlock.ts';

const nouns = {
  image: 'Image',
  audio: 'Audio',
  resource: 'Embedded resource',
  resource_link: 'Link to a resource',
  unknown: 'Content',
} as const satisfies Record<Attachment['kind'], string>;

/** What the model reads in place of a payload: its kind, type and size, and where the payload is. */
export function describeAttachment(attachment: Attachment, index: number): string {
  const { kind, mimeType, bytes, uri, name, content } = attachment;
  const facts = [
    ...(kind === 'unknown' ? [`of the unknown type ${typeName(content)}`] : []),
    ...(name === undefined ? [] : [`"${name}"`]),
    ...(mimeType === undefined ? [] : [mimeType]),
    ...(bytes === undefined ? [] : [`${bytes} bytes`]),
    ...(uri === undefined ? [] : [uri]),
  ];
  const about = facts.length === 0 ? '' : ` ${facts.join(', ')}`;
  return `[${nouns[kind]}${about}: see attachments[${index}]]`;
}

function typeName(content: unknown): string {
  const type: unknown =
    typeof content === 'object' && content !== null ? (content as { type?: unknown }).type : undefined;
  return typeof type === 'string' ? `"${oneLine(type, 64)}"` : 'that it does not name';
}
