import { abortReason, type Cancellation } from '@behalf/kernel';
import type { CatalogTool } from '../toolList.ts';
import { createKeptTexts } from './keptTexts.ts';
import { createRanking } from './rankTools.ts';
import { queryTerms } from './terms.ts';
import { createTurns } from './turns.ts';

/** A tool as one caller sees it. */
export interface SearchedTool {
  /** By which the caller calls it. */
  readonly name: string;
  readonly server: { readonly id: string; readonly name: string };
  readonly tool: CatalogTool;
}

export interface Searcher {
  /** Whose searches run one after another. */
  readonly caller: string;
  readonly signal: Cancellation;
}

export interface ToolSearch {
  /** Those that fit best, the best first. Equal ones by name, so that a question has one answer. */
  find<T extends SearchedTool>(tools: readonly T[], query: string, limit: number, by: Searcher): Promise<T[]>;
}

export interface ToolSearchOptions {
  /** Lets everything else that waits have its turn. */
  readonly giveWay: () => Promise<void>;
  readonly mostBytes?: number;
}

/** Of the words of all tools that are remembered. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_WANTED = 16;
/** Between two times that others have their turn: some milliseconds, of the worst that a server can write. */
const AT_ONCE = 32;
/** The same where nothing is read or compared any more. */
const SCORED_AT_ONCE = 4_096;

/**
 * Texts are put into words once and remembered for as long as a tool's definition is: it is one object for all who are shown the same
 * list. What is found among them is found anew each time, among what this caller sees. They may be fifty thousand tools of servers that
 * mean harm: the process does other things meanwhile, and one caller has one search under way.
 */
export function createToolSearch({ giveWay, mostBytes = MOST_BYTES }: ToolSearchOptions): ToolSearch {
  const kept = createKeptTexts(mostBytes);
  const inTurn = createTurns(giveWay);

  async function forEach(
    count: number,
    atOnce: number,
    signal: Cancellation,
    visit: (index: number) => void,
  ): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      if (index > 0 && index % atOnce === 0) await giveWay();
      // Nobody waits for it any more.
      if (signal.aborted) throw abortReason(signal);
      visit(index);
    }
  }

  return {
    find(tools, query, limit, { caller, signal }) {
      return inTurn(caller, async () => {
        const wanted = queryTerms(query).slice(0, MOST_WANTED);
        const ranking = createRanking(tools.length, wanted);
        await forEach(tools.length, AT_ONCE, signal, (index) => {
          const tool = tools[index];
          if (tool) ranking.read(index, kept.textOf(tool));
        });
        const best: { readonly tool: (typeof tools)[number]; readonly score: number }[] = [];
        await forEach(tools.length, SCORED_AT_ONCE, signal, (index) => {
          const tool = tools[index];
          const score = ranking.scoreOf(index);
          if (!tool || score <= 0) return;
          const isAfter = (other: { tool: SearchedTool; score: number }) =>
            other.score < score || (other.score === score && other.tool.name > tool.name);
          const at = best.findIndex(isAfter);
          if (at < 0 && best.length >= limit) return;
          best.splice(at < 0 ? best.length : at, 0, { tool, score });
          if (best.length > limit) best.pop();
        });
        return best.map(({ tool }) => tool);
      });
    },
  };
}
