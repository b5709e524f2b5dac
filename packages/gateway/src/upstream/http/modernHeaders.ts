import type { HeaderValues, JsonObject } from '../upstream.ts';

export const MODERN_VERSION = '2026-07-28';

/** Which field of a request `Mcp-Name` repeats (SEP-2243). */
const nameFields: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** What a modern request repeats of its body, so that a proxy can route it without reading the body. */
export function createModernRequestHeaders(method: string, params: JsonObject): HeaderValues {
  const name = readMcpName(method, params);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': encodeHeaderValue(method),
  };
  if (name !== undefined) headers['mcp-name'] = encodeHeaderValue(name);
  return headers;
}

/** What `Mcp-Name` says of this request. */
export function readMcpName(method: string, params: JsonObject): string | undefined {
  const field = nameFields.get(method);
  const name = field === undefined ? undefined : params[field];
  return typeof name === 'string' ? name : undefined;
}

const PLAIN_HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** A value that a header cannot carry, or that looks like an encoded one, goes as base64 of its UTF-8. */
export function encodeHeaderValue(value: string): string {
  const isAmbiguous = value.startsWith('=?base64?') && value.endsWith('?=');
  if (PLAIN_HEADER_VALUE.test(value) && !isAmbiguous) return value;
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}
