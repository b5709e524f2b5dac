import { synonymsOf } from './terms.ts';
import type { ToolText } from './toolText.ts';

/** The BM25 parameters k1 and b. */
const SATURATION = 1.2;
const LENGTH_NORMALIZATION = 0.3;
/** Words that share a prefix of this length match partially. */
const MIN_PREFIX_LENGTH = 4;
const PREFIX_WEIGHT = 0.4;
const MAX_NEIGHBORS = 16;
/** A synonym counts less than the term itself in a description. */
const SYNONYM_WEIGHT = 0.5;
const MAX_SYNONYM_WEIGHT = 1;

/** Scores texts. All texts are added before the first score is read. */
interface Ranking {
  addText(index: number, text: ToolText): void;
  scoreOf(index: number): number;
}

interface QueryTerm {
  readonly term: string;
  readonly synonyms: readonly string[];
  /** Weights per text: of the term, and of its best synonym. */
  readonly exactWeights: Float64Array;
  readonly synonymWeights: Float64Array;
  exactMatches: number;
  anyMatches: number;
}

/**
 * BM25 over weighted fields. Term frequencies come only from the texts of this search, so tools that the caller cannot see do
 * not influence the result.
 */
export function createRanking(count: number, queryTerms: readonly string[]): Ranking {
  const lengths = new Float64Array(count);
  let totalLength = 0;
  const terms = queryTerms.map((term): QueryTerm => {
    const [exactWeights, synonymWeights] = [new Float64Array(count), new Float64Array(count)];
    return {
      ...{ term, exactWeights, synonymWeights, exactMatches: 0, anyMatches: 0 },
      synonyms: synonymsOf(term),
    };
  });

  return {
    addText(index, text) {
      lengths[index] = text.length;
      totalLength += text.length;
      for (const entry of terms) {
        const weight = readWeight(text, entry.term);
        let bestSynonym = 0;
        for (const synonym of entry.synonyms)
          bestSynonym = Math.max(bestSynonym, readExactWeight(text, synonym));
        entry.exactWeights[index] = weight;
        entry.synonymWeights[index] = Math.min(SYNONYM_WEIGHT * bestSynonym, MAX_SYNONYM_WEIGHT);
        if (weight > 0) entry.exactMatches += 1;
        if (weight > 0 || bestSynonym > 0) entry.anyMatches += 1;
      }
    },
    scoreOf(index) {
      // If no tool has a description, the average length is 0.
      const averageLength = Math.max(1, totalLength / count);
      const norm =
        SATURATION *
        (1 - LENGTH_NORMALIZATION + (LENGTH_NORMALIZATION * (lengths[index] ?? 0)) / averageLength);
      let score = 0;
      for (const { exactWeights, synonymWeights, exactMatches, anyMatches } of terms) {
        if (anyMatches === 0) continue;
        // A rare term keeps its weight, even if its synonyms are frequent.
        const exactScore =
          inverseDocumentFrequency(exactMatches, count) * saturate(exactWeights[index] ?? 0, norm);
        const synonymScore =
          inverseDocumentFrequency(anyMatches, count) * saturate(synonymWeights[index] ?? 0, norm);
        score += Math.max(exactScore, synonymScore);
      }
      return score;
    },
  };
}

function inverseDocumentFrequency(matches: number, total: number): number {
  return Math.log(1 + (total - matches + 0.5) / (matches + 0.5));
}

function saturate(weight: number, norm: number): number {
  return weight / (weight + norm);
}

/**
 * The weight of the term, or a part of the weight of a term with the same prefix: "repo" matches "repository", and vice versa. The
 * terms are sorted, so both are neighbors. Only a few neighbors are compared, so many similar words cost no time.
 */
function readWeight({ terms, weights }: ToolText, term: string): number {
  const position = findLowerBound(terms, term);
  if (terms[position] === term) return weights[position] ?? 0;
  if (term.length < MIN_PREFIX_LENGTH) return 0;
  const prefix = term.slice(0, MIN_PREFIX_LENGTH);
  let bestPrefix = 0;
  for (let next = position; next < position + MAX_NEIGHBORS; next += 1) {
    if (!terms[next]?.startsWith(term)) break;
    bestPrefix = Math.max(bestPrefix, weights[next] ?? 0);
  }
  for (let next = position - 1; next >= position - MAX_NEIGHBORS; next -= 1) {
    const neighbor = terms[next];
    if (!neighbor?.startsWith(prefix)) break;
    if (term.startsWith(neighbor)) bestPrefix = Math.max(bestPrefix, weights[next] ?? 0);
  }
  return PREFIX_WEIGHT * bestPrefix;
}

function readExactWeight({ terms, weights }: ToolText, term: string): number {
  const position = findLowerBound(terms, term);
  return terms[position] === term ? (weights[position] ?? 0) : 0;
}

/** Index of the first term that is not less than `term`. */
function findLowerBound(terms: readonly string[], term: string): number {
  let low = 0;
  let high = terms.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((terms[middle] ?? '') < term) low = middle + 1;
    else high = middle;
  }
  return low;
}
