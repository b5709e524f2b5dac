import type { Payload } from './parseResultBlock.ts';

const MAX_NAME_LENGTH = 80;
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'application/zip': 'zip',
  'text/plain': 'txt',
  'text/csv': 'csv',
};

/** What a file is called when it is saved: a plain name, whatever the server calls it. */
export function toFileName({ name, mimeType }: Pick<Payload, 'name' | 'mimeType'>): string {
  const lastSegment = name.split(/[/\\]/).findLast(Boolean) ?? '';
  const safeName = lastSegment
    .replace(/[^\p{L}\p{N}._ -]+/gu, '_')
    .replace(/^[._ ]+/, '')
    .slice(-MAX_NAME_LENGTH);
  const base = safeName || 'result';
  const extension = Object.hasOwn(EXTENSIONS, mimeType) ? EXTENSIONS[mimeType] : undefined;
  return extension === undefined || base.includes('.') ? base : `${base}.${extension}`;
}
