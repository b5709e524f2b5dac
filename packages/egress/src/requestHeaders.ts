import { reservedHeaders } from '@behalf/contracts';
import { EgressError } from './errors.ts';
import { HOP_HEADER } from './hop.ts';

/**
 * What another origin may still see after a redirect: the shape of the message, which the body shows anyway. An
 * allow-list, because any configured or per-call header may be a credential under a name we do not know.
 */
const SAFE_ACROSS_ORIGINS = new Set([
  'accept',
  'content-type',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'user-agent',
]);

export interface RequestHeaders {
  /** Name, value, name, value: the form the HTTP client takes without another copy. */
  readonly flat: string[];
  /** The inbound hop header, when the caller passed it through. */
  readonly hop: string | undefined;
  readonly hasContentType: boolean;
}

export function readRequestHeaders(host: string, init: RequestInit['headers']): RequestHeaders {
  const flat: string[] = [];
  let hop: string | undefined;
  let hasContentType = false;
  for (const [name, value] of validated(host, init)) {
    if (name === HOP_HEADER) hop = value;
    if (reservedHeaders.has(name)) continue;
    if (name === 'content-type') hasContentType = true;
    flat.push(name, value);
  }
  return { flat, hop, hasContentType };
}

export function safeAcrossOrigins(flat: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i] ?? '';
    if (SAFE_ACROSS_ORIGINS.has(name)) kept.push(name, flat[i + 1] ?? '');
  }
  return kept;
}

/** Lower-case names, values without CR, LF or NUL. */
function validated(host: string, init: RequestInit['headers']): Iterable<[string, string]> {
  if (init === undefined) return [];
  if (init instanceof Headers) return init;
  try {
    return new Headers(init);
  } catch {
    // The platform's message repeats the value, which may be a credential.
    throw new EgressError('bad_request', host);
  }
}
