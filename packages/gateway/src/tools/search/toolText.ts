import { isObject } from '@behalf/kernel';
import type { JsonObject } from '../../upstream/upstream.ts';
import type { CatalogTool } from '../toolList.ts';
import { extractTerms } from './terms.ts';

/** The sorted terms of a tool and their weights. */
export interface ToolText {
  readonly terms: readonly string[];
  readonly weights: Float32Array;
  /** Number of words in title and description, for length normalization. */
  readonly length: number;
  /** Estimated size in memory. */
  readonly bytes: number;
}

/** A name describes a tool better than the description of a parameter. */
const fieldWeights = {
  name: 3,
  title: 2.5,
  server: 2,
  description: 1.2,
  parameter: 0.8,
  choice: 0.6,
  about: 0.4,
};

/** The text is untrusted, so its influence and its cost are limited. */
const limits = {
  ...{ name: 256, title: 256, description: 2_000, parameter: 64, choice: 64, about: 300 },
  ...{ depth: 4, parameters: 100, choices: 30, times: 2 },
  /** Limits per tool. Title and description use at most `prose` of the terms. */
  ...{ characters: 4_000, terms: 128, prose: 96 },
};
/** Memory estimates. */
const BYTES_PER_TERM = 36;
const BYTES_PER_LETTER = 2;
/** From this length on, V8 represents a substring as a reference to the whole string. */
const MIN_SLICED_LENGTH = 13;

/** Extracts the terms of a tool. */
export function extractToolText(
  { name, title, description, inputSchema }: CatalogTool,
  server: string,
): ToolText {
  const weightedTerms = new Map<string, { weight: number; times: number }>();
  let length = 0;
  let remaining = limits.characters;

  function add(field: keyof typeof fieldWeights, text: unknown): void {
    if (typeof text !== 'string') return;
    const isProse = field === 'description' || field === 'title';
    const excerpt = text.slice(0, Math.min(remaining, field === 'server' ? limits.name : limits[field]));
    remaining -= excerpt.length;
    for (const term of extractTerms(excerpt)) {
      if (isProse) length += 1;
      const known = weightedTerms.get(term);
      if (!known) {
        if (weightedTerms.size < (isProse ? limits.prose : limits.terms))
          weightedTerms.set(term, { weight: fieldWeights[field], times: 1 });
      } else if (known.times < limits.times) {
        known.times += 1;
        known.weight += fieldWeights[field];
      }
    }
  }

  add('name', name);
  add('server', server);
  add('title', title);
  add('description', description);
  for (const { key, schema } of listParameters(inputSchema)) {
    add('parameter', key);
    add('about', schema['description']);
    for (const choice of listChoices(schema)) add('choice', choice);
  }
  const sorted = [...weightedTerms].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    terms: sorted.map(([term]) => copyString(term)),
    weights: Float32Array.from(sorted, ([, { weight }]) => weight),
    length,
    bytes: sorted.reduce((sum, [term]) => sum + BYTES_PER_TERM + BYTES_PER_LETTER * term.length, 0),
  };
}

/** Copies long terms, so that they do not keep the whole text in memory. UTF-16 preserves unpaired surrogates. */
function copyString(term: string): string {
  return term.length < MIN_SLICED_LENGTH ? term : Buffer.from(term, 'utf16le').toString('utf16le');
}

interface Parameter {
  readonly key: string;
  readonly schema: JsonObject;
}

/** Parameters in breadth-first order, within limits. Deeply nested parameters do not describe the tool. */
function listParameters(inputSchema: JsonObject): Parameter[] {
  const found: Parameter[] = [];
  let level: JsonObject[] = [inputSchema];
  let seen = 0;
  for (let depth = 0; depth < limits.depth && level.length > 0; depth += 1) {
    const next: JsonObject[] = [];
    for (const { properties, items } of level) {
      if (isObject(items)) next.push(items);
      if (!isObject(properties)) continue;
      for (const key in properties) {
        // Invalid entries count too, so thousands of them cost no time.
        seen += 1;
        if (seen > limits.parameters) return found;
        const schema = properties[key];
        if (!isObject(schema)) continue;
        found.push({ key, schema });
        next.push(schema);
      }
    }
    level = next;
  }
  return found;
}

function listChoices({ enum: choices, const: constant }: JsonObject): unknown[] {
  if (constant !== undefined) return [constant];
  return Array.isArray(choices) ? choices.slice(0, limits.choices) : [];
}
