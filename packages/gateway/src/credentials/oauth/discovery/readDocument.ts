import { parseUrl } from '@behalf/contracts';
import { readBoundedText, type Clock, type Fetch } from '@behalf/kernel';
import { GatewayError } from '../../../errors/gatewayError.ts';
import type { ReadNetworkError } from '../../../upstream/upstreamError.ts';
import { isSafeUrl, getOrigin } from '../safeUrl.ts';
import { createUnavailableError, SignInImpossible } from '../signInProblem.ts';

const MAX_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;

export type MetadataDocument = Readonly<Record<string, unknown>>;

export interface DocumentReaderParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** For one answer. */
  readonly timeoutMs: number;
  readonly readError: ReadNetworkError;
}

/**
 * A JSON object that somebody publishes about themselves; null where there is none. Redirects are followed within the origin
 * alone: who publishes is who owns the place. Rejects while nobody can say, so that an outage never looks like an absence.
 */
export async function readDocument(
  parts: DocumentReaderParts,
  url: string,
): Promise<MetadataDocument | null> {
  const { clock } = parts;
  const abort = new AbortController();
  const cancel = clock.timer(parts.timeoutMs, () => abort.abort(new Error('the request timed out')), {
    keepAlive: true,
  });
  try {
    const response = await fetchWithRedirects(parts, url, abort.signal);
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status >= 500 || response.status === 429) throw createUnavailableError();
      return null;
    }
    const text = await readBoundedText(response, MAX_BYTES);
    if (text === undefined) throw new SignInImpossible('metadata_invalid');
    return parseObject(text);
  } catch (error) {
    throw toNetworkError(error, parts.readError);
  } finally {
    cancel();
  }
}

async function fetchWithRedirects(
  { fetch }: DocumentReaderParts,
  url: string,
  signal: AbortSignal,
): Promise<Response> {
  let currentUrl = url;
  for (let redirectsLeft = MAX_REDIRECTS; ; redirectsLeft -= 1) {
    const response = await fetch(currentUrl, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal,
    });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const nextUrl = parseUrl(location, currentUrl)?.href ?? '';
    if (redirectsLeft === 0 || !isSafeUrl(nextUrl) || getOrigin(nextUrl) !== getOrigin(url)) {
      throw new SignInImpossible('metadata_invalid');
    }
    currentUrl = nextUrl;
  }
}

/** A page that says "not found" in HTML with status 200 is no document either. */
function parseObject(text: string): MetadataDocument | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as MetadataDocument)
    : null;
}

/** What was refused is told as such; everything else may work in a moment. */
export function toNetworkError(error: unknown, readError: ReadNetworkError): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = readError(error)?.code;
  if (code === 'MCP_DOMAIN_NOT_ALLOWED') return new GatewayError(code, { cause: error });
  return createUnavailableError(error);
}
