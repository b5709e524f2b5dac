import { type Cancellation, abortReason } from '@behalf/kernel';
import type { CatalogTool } from '../toolList.ts';
import { createRanking } from './ranking.ts';
import { extractQueryTerms } from './terms.ts';
import { type ToolText, extractToolText } from './toolText.ts';

/** A tool as one caller sees it. */
export interface SearchedTool {
  /** By which the caller calls it. */
  readonly name: string;
  readonly server: { readonly id: string; readonly name: string };
  readonly tool: CatalogTool;
}

interface SearchContext {
  /** Whose searches run one after another. */
  readonly caller: string;
  readonly signal: Cancellation;
}

export interface ToolSearch {
  /** Those that fit best, the best first. Equal ones by name, so that a question has one answer. */
  find<T extends SearchedTool>(
    tools: readonly T[],
    query: string,
    limit: number,
    context: SearchContext,
  ): Promise<T[]>;
}

interface ToolSearchOptions {
  /** Lets everything else that waits have its turn. */
  readonly yieldToEventLoop: () => Promise<void>;
  readonly maxBytes?: number;
}

/** Of the words of all tools that are remembered. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_QUERY_TERMS = 16;
/** Between two times that others have their turn: some milliseconds, of the worst that a server can write. */
const READ_BATCH_SIZE = 32;
/** The same where nothing is read or compared any more. */
const SCORE_BATCH_SIZE = 4_096;

/**
 * Texts are put into words once and remembered for as long as a tool's definition is: it is one object for all who are shown the same
 * list. What is found among them is found anew each time, among what this caller sees. They may be fifty thousand tools of servers that
 * mean harm: the process does other things meanwhile, and one caller has one search under way.
 */
export function createToolSearch({ yieldToEventLoop, maxBytes = MAX_BYTES }: ToolSearchOptions): ToolSearch {
  const textCache = createToolTextCache(maxBytes);
  const runExclusive = createKeyedMutex(yieldToEventLoop);

  async function forEachInBatches(
    count: number,
    batchSize: number,
    signal: Cancellation,
    visit: (index: number) => void,
  ): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      if (index > 0 && index % batchSize === 0) await yieldToEventLoop();
      // Nobody waits for it any more.
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

/** The words of tools, read once. */
interface ToolTextCache {
  textOf(tool: SearchedTool): ToolText;
}

interface ServerTexts {
  readonly texts: WeakMap<object, ToolText>;
  bytes: number;
}

const BYTES_PER_SERVER = 1_000;
/** How much is left when there was no room: to look for the fullest with every text would cost more than the texts. */
const RETAINED_SHARE = 3 / 4;

/**
 * Remembered for as long as a tool's definition is, within `maxBytes` of all. Then they go of the server that has the most of them: one
 * that shows endless tools, or others to everybody, is read anew each time, and nobody else is. What went with its definition
 * still counts, until its server is the fullest.
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

/** Runs what one caller wants one after another, in the order in which it was wanted. */
type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>;

function createKeyedMutex(yieldToEventLoop: () => Promise<void>): KeyedMutex {
  const tails = new Map<string, Promise<void>>();

  return async (key, work) => {
    const predecessor = tails.get(key);
    let release: () => void = () => undefined;
    const tail = new Promise<void>((resolve) => (release = resolve));
    tails.set(key, tail);
    try {
      if (predecessor) {
        await predecessor;
        // However many waited: between two of them everybody else has a turn.
        await yieldToEventLoop();
      }
      return await work();
    } finally {
      release();
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
