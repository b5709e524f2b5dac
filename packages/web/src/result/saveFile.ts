import type { Payload } from './resultContent.ts';

/**
 * Downloads a payload as bytes, whatever type the server claims: the browser must not open it as a page of this
 * origin. Throws if the text is not base64.
 */
export function saveFile(payload: Payload): void {
  saveBlob(
    new Blob([decodeBase64(payload.base64)], { type: 'application/octet-stream' }),
    toFileName(payload),
  );
}

function decodeBase64(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** Long enough for the browser to start the download. */
const URL_LIFETIME_MS = 10_000;

function saveBlob(blob: Blob, name: string): void {
  const objectUrl = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = objectUrl;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(objectUrl), URL_LIFETIME_MS);
}

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

/** A safe file name. */
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
