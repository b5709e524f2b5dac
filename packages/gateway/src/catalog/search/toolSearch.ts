import type { CatalogTool } from '../toolList.ts';
import { rankTools } from './rankTools.ts';
import { queryTerms } from './terms.ts';
import { readToolText, type ToolText } from './toolText.ts';

/** A tool as one caller sees it. */
export interface SearchedTool {
  /** By which the caller calls it. */
  readonly name: string;
  readonly server: { readonly name: string };
  readonly tool: CatalogTool;
}

export interface ToolSearch {
  /** Those that fit best, the best first. Equal ones by name, so that a question has one answer. */
  find<T extends SearchedTool>(tools: readonly T[], query: string, limit: number): T[];
}

/** Words of all tools that are remembered, about: some tens of megabytes. */
const MOST_TERMS = 1_000_000;
const MOST_WANTED = 32;

/**
 * Texts are put into words once and remembered for as long as a tool's definition is: it is one object for all who are shown the same
 * list. What is found among them is found anew each time, among what this caller sees.
 */
export function createToolSearch({
  mostTerms = MOST_TERMS,
}: { readonly mostTerms?: number } = {}): ToolSearch {
  // Two halves in turn: what is still asked for moves over, and the rest goes when the newer half is full.
  let newer = new WeakMap<object, ToolText>();
  let older = new WeakMap<object, ToolText>();
  let kept = 0;

  function textOf({ server, tool }: SearchedTool): ToolText {
    const known = newer.get(tool.definition);
    if (known) return known;
    const text = older.get(tool.definition) ?? readToolText(tool, server.name);
    if (kept + text.terms.length > mostTerms / 2) {
      older = newer;
      newer = new WeakMap();
      kept = 0;
    }
    kept += text.terms.length;
    newer.set(tool.definition, text);
    return text;
  }

  return {
    find(tools, query, limit) {
      const wanted = queryTerms(query).slice(0, MOST_WANTED);
      const scores = rankTools(tools.map(textOf), wanted);
      return tools
        .flatMap((tool, index) => {
          const score = scores[index] ?? 0;
          return score > 0 ? [{ tool, score }] : [];
        })
        .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
        .slice(0, limit)
        .map(({ tool }) => tool);
    },
  };
}
