import { type Clock, isObject, withTimeout } from '@behalf/kernel';
import { stripGatewayMeta } from './messages.ts';
import type { Era, JsonObject, Upstream, UpstreamRequestOptions, UpstreamResponse } from './upstream.ts';
import { UpstreamError } from './upstreamError.ts';

export type ListMethod = 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';

/** The capability that a server declares for a list, and the field of the items in the result. */
const methodFields = {
  'tools/list': { capability: 'tools', field: 'tools' },
  'resources/list': { capability: 'resources', field: 'resources' },
  'resources/templates/list': { capability: 'resources', field: 'resourceTemplates' },
  'prompts/list': { capability: 'prompts', field: 'prompts' },
} as const satisfies Record<ListMethod, { capability: string; field: string }>;

const METHOD_NOT_FOUND = -32_601;

/** Why a list is incomplete: the limit that was reached, a repeated cursor, or a later page that failed. */
export type IncompleteReason = 'pages' | 'items' | 'bytes' | 'time' | 'cursor' | 'failed';

interface CacheHints {
  /** The shortest TTL of all pages. */
  readonly ttlMs?: number;
  /** `public` only if all pages are public. */
  readonly cacheScope?: 'public' | 'private';
}

export interface ItemList extends CacheHints {
  readonly items: readonly JsonObject[];
  readonly complete: boolean;
  readonly incomplete?: IncompleteReason;
  readonly era: Era;
  /** Instructions of the server, if requested: truncated, with the presented credential masked. */
  readonly instructions?: string;
}

export interface ListLimits {
  readonly pages: number;
  readonly items: number;
  readonly bytes: number;
  readonly totalMs: number;
}

const listLimits: ListLimits = { pages: 50, items: 1_000, bytes: 5 * 1024 * 1024, totalMs: 30_000 };

export type ListAll = (
  upstream: Upstream,
  method: ListMethod,
  options: UpstreamRequestOptions,
) => Promise<ItemList>;

/**
 * Reads all pages of a list. A server may page without end, repeat cursors or return invalid pages: the items read within
 * the limits are returned and marked incomplete. Only a failure of the first page is an error.
 */
export function createListAll(parts: {
  readonly clock: Clock;
  readonly limits?: Partial<ListLimits>;
}): ListAll {
  const { clock } = parts;
  const max = { ...listLimits, ...parts.limits };

  return async (upstream, method, options) => {
    const { era, capabilities } = upstream.claims;
    const { capability, field } = methodFields[method];
    const emptyList: ItemList = { items: [], complete: true, era };
    // Only for legacy servers: claims of a modern server may come from another user's handshake.
    if (era === 'legacy' && !isObject(capabilities[capability])) return emptyList;

    const deadline = clock.now() + max.totalMs;
    const items: JsonObject[] = [];
    const cursors = new Set<string>();
    let cacheHints: CacheHints = {};
    let bytes = 0;
    const toPartialList = (incomplete: IncompleteReason): ItemList => ({
      items,
      complete: false,
      incomplete,
      era,
      ...cacheHints,
    });

    for (let page = 1, cursor: string | undefined; ; page += 1) {
      let pageResult: Page;
      try {
        const params = cursor === undefined ? {} : { cursor };
        const requestPage = (pageOptions: UpstreamRequestOptions) =>
          upstream.request(method, params, pageOptions);
        pageResult = readPage(await withinTime(clock, deadline - clock.now(), options, requestPage), field);
      } catch (error) {
        // Resources and templates share one capability, so a legacy server may lack the template list.
        const canBeMissing = era === 'modern' || method === 'resources/templates/list';
        if (page === 1 && canBeMissing && isMethodNotFound(error)) return emptyList;
        if (page === 1 || options.signal.aborted) throw error;
        return toPartialList(clock.now() >= deadline ? 'time' : 'failed');
      }
      bytes += pageResult.bytes;
      if (bytes > max.bytes) return toPartialList('bytes');
      const capacity = max.items - items.length;
      items.push(...pageResult.items.slice(0, capacity));
      cacheHints = page === 1 ? pageResult.cacheHints : mergeHints(cacheHints, pageResult.cacheHints);
      if (pageResult.items.length > capacity) return toPartialList('items');
      // Only a missing cursor ends the list. Neither an empty page nor an empty cursor does.
      if (pageResult.next === undefined) return { items, complete: true, era, ...cacheHints };
      if (cursors.has(pageResult.next)) return toPartialList('cursor');
      if (items.length === max.items) return toPartialList('items');
      if (page === max.pages) return toPartialList('pages');
      if (clock.now() >= deadline) return toPartialList('time');
      cursors.add(pageResult.next);
      cursor = pageResult.next;
    }
  };
}

/** Runs one request within the remaining time of the whole list. */
async function withinTime(
  clock: Clock,
  remainingMs: number,
  options: UpstreamRequestOptions,
  request: (options: UpstreamRequestOptions) => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const { signal } = options;
  const pageAbort = new AbortController();
  // `AbortSignal.any` would leak: each derived signal stays in memory as long as its source.
  const abort = () => pageAbort.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  try {
    const response = request({
      ...options,
      timeoutMs: Math.min(options.timeoutMs, remainingMs),
      totalMs: Math.min(options.totalMs, remainingMs),
      signal: pageAbort.signal,
    });
    return await withTimeout(clock, remainingMs, response, () => {
      const error = new UpstreamError('timeout');
      pageAbort.abort(error);
      throw error;
    });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function isMethodNotFound(error: unknown): boolean {
  return (
    error instanceof UpstreamError &&
    error.reason === 'rpc_error' &&
    error.detail.rpc?.code === METHOD_NOT_FOUND
  );
}

interface Page {
  readonly items: readonly JsonObject[];
  readonly next: string | undefined;
  readonly bytes: number;
  readonly cacheHints: CacheHints;
}

function readPage({ result, json }: UpstreamResponse, field: string): Page {
  const { [field]: list, nextCursor, ttlMs, cacheScope } = result;
  const next = nextCursor ?? undefined;
  if (!Array.isArray(list) || (next !== undefined && typeof next !== 'string'))
    throw new UpstreamError('invalid_response');
  return {
    items: list.filter(isObject).map(stripGatewayMeta),
    next,
    bytes: (json ?? JSON.stringify(result)).length,
    cacheHints: {
      ...(typeof ttlMs === 'number' && Number.isFinite(ttlMs) && { ttlMs: Math.max(0, ttlMs) }),
      ...((cacheScope === 'public' || cacheScope === 'private') && { cacheScope }),
    },
  };
}

/** A hint holds for the whole list only if all pages have it. */
function mergeHints(a: CacheHints, b: CacheHints): CacheHints {
  return {
    ...(a.ttlMs !== undefined && b.ttlMs !== undefined && { ttlMs: Math.min(a.ttlMs, b.ttlMs) }),
    ...(a.cacheScope === 'public' && b.cacheScope === 'public'
      ? { cacheScope: 'public' as const }
      : (a.cacheScope ?? b.cacheScope) && { cacheScope: 'private' as const }),
  };
}
