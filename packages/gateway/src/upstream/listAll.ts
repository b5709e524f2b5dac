import { type Clock, withTimeout } from '@behalf/kernel';
import { stripGatewayMeta } from './gatewayMeta.ts';
import type { Era, JsonObject, Upstream, UpstreamRequestOptions, UpstreamResponse } from './upstream.ts';
import { UpstreamError } from './upstreamError.ts';

export type ListMethod = 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';

/** Where the items stand in an answer, and what a server declares when it has any. */
const methodFields = {
  'tools/list': { capability: 'tools', field: 'tools' },
  'resources/list': { capability: 'resources', field: 'resources' },
  'resources/templates/list': { capability: 'resources', field: 'resourceTemplates' },
  'prompts/list': { capability: 'prompts', field: 'prompts' },
} as const satisfies Record<ListMethod, { capability: string; field: string }>;

const METHOD_NOT_FOUND = -32_601;

/** Which budget ended a list early, or that a later page was not to be had. */
export type IncompleteReason = 'pages' | 'items' | 'bytes' | 'time' | 'cursor' | 'failed';

export interface ItemList {
  readonly items: readonly JsonObject[];
  readonly complete: boolean;
  readonly incomplete?: IncompleteReason;
  readonly era: Era;
  /** For how long the server stands by it: the shortest of its pages. */
  readonly ttlMs?: number;
  /** `public` only when every page says so. */
  readonly cacheScope?: 'public' | 'private';
  /** What the server says of itself, where that is wanted: cut, and without what it was shown to let us in. */
  readonly instructions?: string;
}

export interface ListLimits {
  readonly pages: number;
  readonly items: number;
  readonly bytes: number;
  readonly totalMs: number;
}

const listLimits: ListLimits = { pages: 50, items: 1_000, bytes: 5 * 1024 * 1024, totalMs: 30_000 };

interface ListAllParts {
  readonly clock: Clock;
  readonly limits?: Partial<ListLimits>;
}

export type ListAll = (
  upstream: Upstream,
  method: ListMethod,
  options: UpstreamRequestOptions,
) => Promise<ItemList>;

/**
 * Every page of a list. A server may page without end, repeat itself or send anything at all; what was read within the
 * budgets is returned and called incomplete. Only a first page that cannot be had is an error.
 */
export function createListAll({ clock, limits }: ListAllParts): ListAll {
  const max = { ...listLimits, ...limits };

  return async (upstream, method, options) => {
    const { era, capabilities } = upstream.claims;
    const { capability, field } = methodFields[method];
    const emptyList: ItemList = { items: [], complete: true, era };
    // What a server without sessions said of itself, it may have said to another user. This one is asked all the same.
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
        const remainingMs = deadline - clock.now();
        const response = await requestPage(
          clock,
          upstream,
          method,
          cursor === undefined ? {} : { cursor },
          options,
          remainingMs,
        );
        pageResult = readPage(response, field);
      } catch (error) {
        // A legacy server that declares resources may have no templates: that is one capability for both.
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
      // An empty page is not the end, and neither is an empty cursor: only its absence is.
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

interface CacheHints {
  readonly ttlMs?: number;
  readonly cacheScope?: 'public' | 'private';
}

interface Page {
  readonly items: readonly JsonObject[];
  readonly next: string | undefined;
  readonly bytes: number;
  readonly cacheHints: CacheHints;
}

/** One page, within what is left of the time for all of them. */
async function requestPage(
  clock: Clock,
  upstream: Upstream,
  method: ListMethod,
  params: JsonObject,
  options: UpstreamRequestOptions,
  remainingMs: number,
): Promise<UpstreamResponse> {
  const { signal } = options;
  const pageAbort = new AbortController();
  // Not `AbortSignal.any`: with a signal that lives as long as the process, each one stays in memory for as long.
  const abort = () => pageAbort.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  try {
    const response = upstream.request(method, params, {
      ...options,
      timeoutMs: Math.min(options.timeoutMs, remainingMs),
      totalMs: Math.min(options.totalMs, remainingMs),
      signal: pageAbort.signal,
    });
    return await withTimeout(clock, remainingMs, response, () => {
      const error = new UpstreamError('timeout');
      // Nobody reads the page any more: whoever still sends it is told.
      pageAbort.abort(error);
      throw error;
    });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** "Method not found": the server has nothing of this kind. */
function isMethodNotFound(error: unknown): boolean {
  return (
    error instanceof UpstreamError &&
    error.reason === 'rpc_error' &&
    error.detail.rpc?.code === METHOD_NOT_FOUND
  );
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

/** What holds for both: a page that says nothing promises nothing. */
function mergeHints(a: CacheHints, b: CacheHints): CacheHints {
  return {
    ...(a.ttlMs !== undefined && b.ttlMs !== undefined && { ttlMs: Math.min(a.ttlMs, b.ttlMs) }),
    ...(a.cacheScope === 'public' && b.cacheScope === 'public'
      ? { cacheScope: 'public' as const }
      : (a.cacheScope ?? b.cacheScope) && { cacheScope: 'private' as const }),
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
