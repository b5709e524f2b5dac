import { parseUrl } from '@behalf/contracts';
import { boundedText, type Clock, type Fetch } from '@behalf/kernel';
import { GatewayError } from '../../../errors/gatewayError.ts';
import type { ReadNetworkError } from '../../../upstream/upstreamError.ts';
import { isSafeUrl, originOf } from '../safeUrl.ts';
import { authorizationServerAway, SignInImpossible } from '../signInProblem.ts';

const MOST_BYTES = 256 * 1024;
const MOST_REDIRECTS = 3;

export type Document = Readonly<Record<string, unknown>>;

export interface ReadingParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** For one answer. */
  readonly patienceMs: number;
  readonly readError: ReadNetworkError;
}

/**
 * A JSON object that somebody publishes about themselves; null where there is none. Redirects are followed within the origin
 * alone: who publishes is who owns the place. Rejects while nobody can say, so that an outage never looks like an absence.
 */
export async function readDocument(parts: ReadingParts, url: string): Promise<Document | null> {
  const { clock } = parts;
  const abort = new AbortController();
  const cancel = clock.timer(parts.patienceMs, () => abort.abort(new Error('no answer in time')), {
    hold: true,
  });
  try {
    const response = await followed(parts, url, abort.signal);
    if (response.status !== 200) {
      await response.body?.cancel();
      if (response.status >= 500 || response.status === 429) throw authorizationServerAway();
      return null;
    }
    const text = await boundedText(response, MOST_BYTES);
    if (text === undefined) throw new SignInImpossible('metadata_invalid');
    return objectIn(text);
  } catch (error) {
    throw networkProblem(error, parts.readError);
  } finally {
    cancel();
  }
}

async function followed({ fetch }: ReadingParts, url: string, signal: AbortSignal): Promise<Response> {
  let at = url;
  for (let left = MOST_REDIRECTS; ; left -= 1) {
    const response = await fetch(at, { headers: { accept: 'application/json' }, redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const next = parseUrl(location, at)?.href ?? '';
    if (left === 0 || !isSafeUrl(next) || originOf(next) !== originOf(url)) {
      throw new SignInImpossible('metadata_invalid');
    }
    at = next;
  }
}

/** A page that says "not found" in HTML with status 200 is no document either. */
function objectIn(text: string): Document | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Document) : null;
}

/** What was refused is told as such; everything else may work in a moment. */
export function networkProblem(error: unknown, readError: ReadNetworkError): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = readError(error)?.code;
  if (code === 'MCP_DOMAIN_NOT_ALLOWED') return new GatewayError(code, { cause: error });
  return authorizationServerAway(error);
}
