import { reservedHeaders } from '@behalf/contracts';
import { EgressError } from './errors.ts';
import { HOP_HEADER } from './hop.ts';

/**
 * What another origin may still see after a redirect: the shape of the message, which the body shows anyway. An
 * allow-list, because any configured or per-call header may be a credential under a name we do not know.
 */
const SAFE_HEADERS = new Set([
  'accept',
  'content-type',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'user-agent',
]);

export interface RequestHeaders {
  /** Name, value, name, value: the form the HTTP client takes without another copy. */
  readonly flatHeaders: string[];
  /** The inbound hop header, when the caller passed it through. */
  readonly hop: string | undefined;
  readonly hasContentType: boolean;
}

export function readRequestHeaders(host: string, init: RequestInit['headers']): RequestHeaders {
  const flatHeaders: string[] = [];
  let hop: string | undefined;
  let hasContentType = false;
  for (const [name, value] of validateHeaders(host, init)) {
    if (name === HOP_HEADER) hop = value;
    if (reservedHeaders.has(name)) continue;
    if (name === 'content-type') hasContentType = true;
    flatHeaders.push(name, value);
  }
  return { flatHeaders, hop, hasContentType };
}

export function filterSafeHeaders(flatHeaders: readonly string[]): string[] {
  const safe: string[] = [];
  for (let i = 0; i + 1 < flatHeaders.length; i += 2) {
    const name = flatHeaders[i] ?? '';
    if (SAFE_HEADERS.has(name)) safe.push(name, flatHeaders[i + 1] ?? '');
  }
  return safe;
}

/** Lower-case names, values without CR, LF or NUL. */
function validateHeaders(host: string, init: RequestInit['headers']): Iterable<[string, string]> {
  if (init === undefined) return [];
  if (init instanceof Headers) return init;
  try {
    return new Headers(init);
  } catch {
    // The platform's message repeats the value, which may be a credential.
    throw new EgressError('bad_request', host);
  }
}
