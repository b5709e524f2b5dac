import { type Cancellation, KeyedMutex, abortReason } from '@behalf/kernel';
import type { CatalogTool } from '../toolList.ts';
import { createRanking } from './ranking.ts';
import { extractQueryTerms } from './terms.ts';
import { type ToolText, extractToolText } from './toolText.ts';

/** A tool that the caller can list. */
export interface SearchedTool {
  /** The public name. */
  readonly name: string;
  readonly server: { readonly id: string; readonly name: string };
  readonly tool: CatalogTool;
}

interface SearchContext {
  /** Searches of one caller run one after the other. */
  readonly caller: string;
  readonly signal: Cancellation;
}

export interface ToolSearch {
  /** The best matches, best first. Ties are ordered by name, so results are deterministic. */
  find<T extends SearchedTool>(
    tools: readonly T[],
    query: string,
    limit: number,
    context: SearchContext,
  ): Promise<T[]>;
}

interface ToolSearchOptions {
  /** Lets the event loop run other work. */
  readonly yieldToEventLoop: () => Promise<void>;
  readonly maxBytes?: number;
}

/** Memory limit of the cached tool texts. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_QUERY_TERMS = 16;
/** Texts read before the search yields. Takes a few milliseconds for the largest texts. */
const READ_BATCH_SIZE = 32;
/** Scores computed before the search yields. */
const SCORE_BATCH_SIZE = 4_096;

/**
 * Searches the tools of a caller. The terms of a tool are extracted once per definition, which users with equal lists share. Each
 * search ranks only the tools of its caller. There can be fifty thousand tools of malicious servers, so a search yields to the
 * event loop, and a caller has one search at a time.
 */
export function createToolSearch({ yieldToEventLoop, maxBytes = MAX_BYTES }: ToolSearchOptions): ToolSearch {
  const textCache = createToolTextCache(maxBytes);
  const mutex = new KeyedMutex();
  const pendingSearches = new Map<string, number>();

  /** Runs the searches of one caller one after the other, and yields between them. */
  async function runExclusive<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const queued = pendingSearches.get(caller) ?? 0;
    pendingSearches.set(caller, queued + 1);
    try {
      return await mutex.run(caller, async () => {
        if (queued > 0) await yieldToEventLoop();
        return work();
      });
    } finally {
      const remaining = (pendingSearches.get(caller) ?? 1) - 1;
      if (remaining > 0) pendingSearches.set(caller, remaining);
      else pendingSearches.delete(caller);
    }
  }

  async function forEachInBatches(
    count: number,
    batchSize: number,
    signal: Cancellation,
    visit: (index: number) => void,
  ): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      if (index > 0 && index % batchSize === 0) await yieldToEventLoop();
      if (signal.aborted) throw abortReason(signal);
      visit(index);
    }
  }

  return {
    find(tools, query, limit, { caller, signal }) {
      return runExclusive(caller, async () => {
        const terms = extractQueryTerms(query).slice(0, MAX_QUERY_TERMS);
        const ranking = createRanking(tools.length, terms);
        await forEachInBatches(tools.length, READ_BATCH_SIZE, signal, (index) => {
          const tool = tools[index];
          if (tool) ranking.addText(index, textCache.textOf(tool));
        });
        const best: { readonly tool: (typeof tools)[number]; readonly score: number }[] = [];
        await forEachInBatches(tools.length, SCORE_BATCH_SIZE, signal, (index) => {
          const tool = tools[index];
          const score = ranking.scoreOf(index);
          if (!tool || score <= 0) return;
          const ranksBelow = (other: { tool: SearchedTool; score: number }) =>
            other.score < score || (other.score === score && other.tool.name > tool.name);
          const position = best.findIndex(ranksBelow);
          if (position < 0 && best.length >= limit) return;
          best.splice(position < 0 ? best.length : position, 0, { tool, score });
          if (best.length > limit) best.pop();
        });
        return best.map(({ tool }) => tool);
      });
    },
  };
}

interface ToolTextCache {
  textOf(tool: SearchedTool): ToolText;
}

interface ServerTexts {
  readonly texts: WeakMap<object, ToolText>;
  bytes: number;
}

const BYTES_PER_SERVER = 1_000;
/** Share of the memory limit that remains after an eviction. Larger steps avoid sorting the servers for every text. */
const RETAINED_SHARE = 3 / 4;

/**
 * Caches the terms as long as the tool's definition exists, within `maxBytes`. When the cache is full, the servers with the most
 * bytes lose all entries: a server with endless tools costs only itself. Collected definitions count until then.
 */
function createToolTextCache(maxBytes: number): ToolTextCache {
  const servers = new Map<string, ServerTexts>();
  let totalBytes = 0;

  function evictFullest(): void {
    const largestFirst = [...servers].sort(([, a], [, b]) => b.bytes - a.bytes);
    for (const [id, { bytes }] of largestFirst) {
      if (totalBytes <= maxBytes * RETAINED_SHARE) return;
      servers.delete(id);
      totalBytes -= bytes;
    }
  }

  function getOrCreateServer(id: string): ServerTexts {
    const known = servers.get(id);
    if (known) return known;
    const created: ServerTexts = { texts: new WeakMap(), bytes: BYTES_PER_SERVER };
    servers.set(id, created);
    totalBytes += created.bytes;
    return created;
  }

  return {
    textOf({ server, tool }) {
      const known = servers.get(server.id)?.texts.get(tool.definition);
      if (known) return known;
      const text = extractToolText(tool, server.name);
      if (totalBytes + text.bytes + BYTES_PER_SERVER > maxBytes) evictFullest();
      const serverTexts = getOrCreateServer(server.id);
      serverTexts.texts.set(tool.definition, text);
      serverTexts.bytes += text.bytes;
      totalBytes += text.bytes;
      return text;
    },
  };
}
