import { isDeepStrictEqual } from 'node:util';
import { countDecodedBytes } from './contentBlock.ts';

/** A shorter text of this alphabet may well be a word or an id. */
const MIN_BASE64_LENGTH = 512;
const BASE64_OR_DATA_URL = /^(?:data:[^,]{0,256};base64,)?[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * `structuredContent` as text, when the model does not see it already: a server should repeat it as a text block
 * (2025-06-18, structured content), and twice the same helps nobody. Undefined when there is nothing to add.
 */
export function toStructuredText(structured: unknown, texts: readonly string[]): string | undefined {
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
