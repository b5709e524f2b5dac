import { synonymsOf } from './synonyms.ts';
import type { ToolText } from './toolText.ts';

/** How soon a further mention of a word says nothing new, and how much a long text is held against a tool. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.3;
/** How much of a word another one has to be, and what that is worth. */
const SHORTEST_START = 4;
const START = 0.4;
const MOST_BESIDE = 16;
/** Another word for it never says as much as the word itself in a description. */
const SYNONYM = 0.5;
const MOST_OF_SYNONYM = 1;

/** How well texts fit: first all of them are read, then each has its score. */
export interface Ranking {
  read(index: number, text: ToolText): void;
  scoreOf(index: number): number;
}

interface Term {
  readonly term: string;
  readonly synonyms: readonly string[];
  /** What each text says of the word itself, and by another word for it. */
  readonly own: Float64Array;
  readonly other: Float64Array;
  having: number;
  meaning: number;
}

/**
 * By BM25 with the fields of a tool weighted beforehand. What a word is worth follows from these texts alone: what a caller cannot
 * see changes nothing about what they find.
 */
export function createRanking(count: number, wanted: readonly string[]): Ranking {
  const lengths = new Float64Array(count);
  let length = 0;
  const terms = wanted.map((term): Term => {
    const [own, other] = [new Float64Array(count), new Float64Array(count)];
    return { ...{ term, own, other, having: 0, meaning: 0 }, synonyms: synonymsOf(term) };
  });

  return {
    read(index, text) {
      lengths[index] = text.length;
      length += text.length;
      for (const of of terms) {
        const weight = weightIn(text, of.term);
        let best = 0;
        for (const synonym of of.synonyms) best = Math.max(best, exactIn(text, synonym));
        of.own[index] = weight;
        of.other[index] = Math.min(SYNONYM * best, MOST_OF_SYNONYM);
        if (weight > 0) of.having += 1;
        if (weight > 0 || best > 0) of.meaning += 1;
      }
    },
    scoreOf(index) {
      // Tools need no description: of none, the average is no divisor.
      const average = Math.max(1, length / count);
      const norm = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * (lengths[index] ?? 0)) / average);
      let score = 0;
      for (const { own, other, having, meaning } of terms) {
        if (meaning === 0) continue;
        // A word that few texts have stays telling, however many have another word for it.
        const said = rarity(having, count) * saturated(own[index] ?? 0, norm);
        const meant = rarity(meaning, count) * saturated(other[index] ?? 0, norm);
        score += Math.max(said, meant);
      }
      return score;
    },
  };
}

function rarity(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5));
}

function saturated(weight: number, norm: number): number {
  return weight / (weight + norm);
}

/**
 * Of the word itself, or less of one that it begins or that begins it: "repo" finds a repository, and the reverse. Both stand
 * beside its own place. Whoever writes a hundred words that begin alike is not compared with all of them.
 */
function weightIn({ terms, weights }: ToolText, term: string): number {
  const at = lowest(terms, term);
  if (terms[at] === term) return weights[at] ?? 0;
  if (term.length < SHORTEST_START) return 0;
  const start = term.slice(0, SHORTEST_START);
  let best = 0;
  for (let next = at; next < at + MOST_BESIDE; next += 1) {
    if (!terms[next]?.startsWith(term)) break;
    best = Math.max(best, weights[next] ?? 0);
  }
  for (let next = at - 1; next >= at - MOST_BESIDE; next -= 1) {
    const other = terms[next];
    if (!other?.startsWith(start)) break;
    if (term.startsWith(other)) best = Math.max(best, weights[next] ?? 0);
  }
  return START * best;
}

function exactIn({ terms, weights }: ToolText, term: string): number {
  const at = lowest(terms, term);
  return terms[at] === term ? (weights[at] ?? 0) : 0;
}

/** Where the first one stands that is not before it. */
function lowest(terms: readonly string[], term: string): number {
  let from = 0;
  let to = terms.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((terms[middle] ?? '') < term) from = middle + 1;
    else to = middle;
  }
  return from;
}
