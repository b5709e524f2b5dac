import type { Payload } from './readBlock.ts';

const LONGEST = 80;
const ENDINGS: Readonly<Record<string, string>> = {
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
export function fileName({ name, mimeType }: Pick<Payload, 'name' | 'mimeType'>): string {
  const last = name.split(/[/\\]/).findLast(Boolean) ?? '';
  const plain = last
    .replace(/[^\p{L}\p{N}._ -]+/gu, '_')
    .replace(/^[._ ]+/, '')
    .slice(-LONGEST);
  const base = plain || 'result';
  const ending = Object.hasOwn(ENDINGS, mimeType) ? ENDINGS[mimeType] : undefined;
  return ending === undefined || base.includes('.') ? base : `${base}.${ending}`;
}
