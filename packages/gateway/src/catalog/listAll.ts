import { within, type Clock } from '@behalf/kernel';
import type {
  UpstreamResponse,
  Era,
  JsonObject,
  UpstreamRequestOptions,
  Upstream,
} from '../upstream/upstream.ts';
import { stripGatewayMeta } from '../shaping/stripGatewayMeta.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

export type ListMethod = 'tools/list' | 'resources/list' | 'resources/templates/list' | 'prompts/list';

/** Where the items stand in an answer, and what a server declares when it has any. */
const kinds = {
  'tools/list': { capability: 'tools', field: 'tools' },
  'resources/list': { capability: 'resources', field: 'resources' },
  'resources/templates/list': { capability: 'resources', field: 'resourceTemplates' },
  'prompts/list': { capability: 'prompts', field: 'prompts' },
} as const satisfies Record<ListMethod, { capability: string; field: string }>;

const METHOD_NOT_FOUND = -32_601;

/** Which budget ended a list early, or that a later page was not to be had. */
export type IncompleteReason = 'pages' | 'items' | 'bytes' | 'time' | 'cursor' | 'failed';

export interface Listed {
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

export const listLimits: ListLimits = { pages: 50, items: 1_000, bytes: 5 * 1024 * 1024, totalMs: 30_000 };

export interface ListParts {
  readonly clock: Clock;
  readonly limits?: Partial<ListLimits>;
}

export type ListAll = (
  upstream: Upstream,
  method: ListMethod,
  options: UpstreamRequestOptions,
) => Promise<Listed>;

/**
 * Every page of a list. A server may page without end, repeat itself or send anything at all; what was read within the
 * budgets is returned and called incomplete. Only a first page that cannot be had is an error.
 */
export function createListAll({ clock, limits }: ListParts): ListAll {
  const most = { ...listLimits, ...limits };

  return async (upstream, method, options) => {
    const { era, capabilities } = upstream.claims;
    const { capability, field } = kinds[method];
    const none: Listed = { items: [], complete: true, era };
    // What a server without sessions said of itself, it may have said to another user. This one is asked all the same.
    if (era === 'legacy' && !isObject(capabilities[capability])) return none;

    const end = clock.now() + most.totalMs;
    const items: JsonObject[] = [];
    const cursors = new Set<string>();
    let hints: Hints = {};
    let bytes = 0;
    const stopped = (incomplete: IncompleteReason): Listed => ({
      items,
      complete: false,
      incomplete,
      era,
      ...hints,
    });

    for (let page = 1, cursor: string | undefined; ; page += 1) {
      let read: Page;
      try {
        const left = end - clock.now();
        const answer = await ask(
          clock,
          upstream,
          method,
          cursor === undefined ? {} : { cursor },
          options,
          left,
        );
        read = readPage(answer, field);
      } catch (error) {
        // A legacy server that declares resources may have no templates: that is one capability for both.
        const mayLack = era === 'modern' || method === 'resources/templates/list';
        if (page === 1 && mayLack && isNotOffered(error)) return none;
        if (page === 1 || options.signal.aborted) throw error;
        return stopped(clock.now() >= end ? 'time' : 'failed');
      }
      bytes += read.bytes;
      if (bytes > most.bytes) return stopped('bytes');
      const room = most.items - items.length;
      items.push(...read.items.slice(0, room));
      hints = page === 1 ? read.hints : shorter(hints, read.hints);
      if (read.items.length > room) return stopped('items');
      // An empty page is not the end, and neither is an empty cursor: only its absence is.
      if (read.next === undefined) return { items, complete: true, era, ...hints };
      if (cursors.has(read.next)) return stopped('cursor');
      if (items.length === most.items) return stopped('items');
      if (page === most.pages) return stopped('pages');
      if (clock.now() >= end) return stopped('time');
      cursors.add(read.next);
      cursor = read.next;
    }
  };
}

interface Hints {
  readonly ttlMs?: number;
  readonly cacheScope?: 'public' | 'private';
}

interface Page {
  readonly items: readonly JsonObject[];
  readonly next: string | undefined;
  readonly bytes: number;
  readonly hints: Hints;
}

/** One page, within what is left of the time for all of them. */
async function ask(
  clock: Clock,
  upstream: Upstream,
  method: ListMethod,
  params: JsonObject,
  options: UpstreamRequestOptions,
  ms: number,
): Promise<UpstreamResponse> {
  const { signal } = options;
  const left = new AbortController();
  // Not `AbortSignal.any`: with a signal that lives as long as the process, each one stays in memory for as long.
  const leave = () => left.abort(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave);
  try {
    const answer = upstream.request(method, params, {
      ...options,
      timeoutMs: Math.min(options.timeoutMs, ms),
      totalMs: Math.min(options.totalMs, ms),
      signal: left.signal,
    });
    return await within(clock, ms, answer, () => {
      const error = new UpstreamError('timeout');
      // Nobody reads the page any more: whoever still sends it is told.
      left.abort(error);
      throw error;
    });
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** "Method not found": the server has nothing of this kind. */
function isNotOffered(error: unknown): boolean {
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
    throw new UpstreamError('garbage');
  return {
    items: list.filter(isObject).map(stripGatewayMeta),
    next,
    bytes: (json ?? JSON.stringify(result)).length,
    hints: {
      ...(typeof ttlMs === 'number' && Number.isFinite(ttlMs) && { ttlMs: Math.max(0, ttlMs) }),
      ...((cacheScope === 'public' || cacheScope === 'private') && { cacheScope }),
    },
  };
}

/** What holds for both: a page that says nothing promises nothing. */
function shorter(a: Hints, b: Hints): Hints {
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
