import { synonymsOf } from './synonyms.ts';
import type { ToolText } from './toolText.ts';

/** How soon a further mention of a word says nothing new, and how much a long text is held against a tool. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.3;
/** How much of a word another one has to be, and what that is worth. */
const SHORTEST_START = 4;
const START = 0.4;
/** Another word for it never says as much as the word itself in a description. */
const SYNONYM = 0.5;
const MOST_OF_SYNONYM = 1;

/**
 * How well each text fits, by BM25 with the fields of a tool weighted beforehand. What a word is worth follows from these texts alone:
 * what a caller cannot see changes nothing about what they find.
 */
export function rankTools(texts: readonly ToolText[], wanted: readonly string[]): Float64Array {
  const scores = new Float64Array(texts.length);
  // Tools need no description: of none, the average is no divisor.
  const average = Math.max(1, texts.reduce((sum, { length }) => sum + length, 0) / texts.length);
  const norms = texts.map(
    ({ length }) => SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / average),
  );
  const own = new Float64Array(texts.length);
  const other = new Float64Array(texts.length);
  for (const term of wanted) {
    const also = synonymsOf(term);
    let having = 0;
    let meaning = 0;
    for (const [index, text] of texts.entries()) {
      const weight = weightIn(text, term);
      let best = 0;
      for (const synonym of also) best = Math.max(best, exactIn(text, synonym));
      own[index] = weight;
      other[index] = Math.min(SYNONYM * best, MOST_OF_SYNONYM);
      if (weight > 0) having += 1;
      if (weight > 0 || best > 0) meaning += 1;
    }
    if (meaning === 0) continue;
    // A word that few texts have stays telling, however many have another word for it.
    const [rare, usual] = [rarity(having, texts.length), rarity(meaning, texts.length)];
    for (const [index, norm] of norms.entries()) {
      const said = rare * saturated(own[index] ?? 0, norm);
      const meant = usual * saturated(other[index] ?? 0, norm);
      scores[index] = (scores[index] ?? 0) + Math.max(said, meant);
    }
  }
  return scores;
}

function rarity(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5));
}

function saturated(weight: number, norm: number): number {
  return weight / (weight + norm);
}

/** Of the word itself, or less of one that it begins or that begins it: "repo" finds a repository, and the reverse. */
function weightIn({ terms, weights }: ToolText, term: string): number {
  const start = term.slice(0, SHORTEST_START);
  let best = 0;
  for (let at = lowest(terms, start); at < terms.length; at += 1) {
    const other = terms[at] ?? '';
    if (!other.startsWith(start)) break;
    const weight = weights[at] ?? 0;
    if (other === term) return weight;
    if (start.length === SHORTEST_START && (other.startsWith(term) || term.startsWith(other)))
      best = Math.max(best, START * weight);
  }
  return best;
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
