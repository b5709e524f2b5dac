import { isDeepStrictEqual } from 'node:util';
import { decodedBytes } from './contentBlock.ts';

/** A shorter text of this alphabet may well be a word or an id. */
const SHORTEST_BASE64 = 512;
const BASE64 = /^(?:data:[^,]{0,256};base64,)?[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * `structuredContent` as text, when the model does not see it already: a server should repeat it as a text block
 * (2025-06-18, structured content), and twice the same helps nobody. Undefined when there is nothing to add.
 */
export function structuredText(structured: unknown, texts: readonly string[]): string | undefined {
  if (structured === undefined || texts.some((text) => says(text, structured))) return undefined;
  return `Structured result:\n${JSON.stringify(structured, withoutBase64)}`;
}

function says(text: string, structured: unknown): boolean {
  const start = text.trimStart()[0];
  if (start !== '{' && start !== '[') return false;
  try {
    return isDeepStrictEqual(JSON.parse(text), structured);
  } catch {
    return false;
  }
}

/** The whole value stays in `structuredContent` of the answer; a prompt is no place for it. */
function withoutBase64(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.length < SHORTEST_BASE64 || !BASE64.test(value)) return value;
  return `[base64, ${decodedBytes(value)} bytes: see structuredContent]`;
}
