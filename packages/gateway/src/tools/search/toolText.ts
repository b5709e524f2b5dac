import type { JsonObject } from '../../upstream/upstream.ts';
import type { CatalogTool } from '../toolList.ts';
import { extractTerms } from './terms.ts';

/** The words of one tool, sorted, with how much each of them says about it. */
export interface ToolText {
  readonly terms: readonly string[];
  readonly weights: Float32Array;
  /** How many words it is described with. Parameters are not counted: to have many is no fault. */
  readonly length: number;
  /** What it takes in memory, about. */
  readonly bytes: number;
}

/** A name says what a tool does; what a parameter is for says little. */
const fieldWeights = {
  name: 3,
  title: 2.5,
  server: 2,
  description: 1.2,
  parameter: 0.8,
  choice: 0.6,
  about: 0.4,
};

/** The server chose every word of it: whoever writes a book is read as far as anybody else. */
const limits = {
  ...{ name: 256, title: 256, description: 2_000, parameter: 64, choice: 64, about: 300 },
  ...{ depth: 4, parameters: 100, choices: 30, times: 2 },
  /** Of all of it together. Prose leaves some of the words to the parameters. */
  ...{ characters: 4_000, terms: 128, prose: 96 },
};
/** A term with its weight and its place, and each letter of it. */
const BYTES_PER_TERM = 36;
const BYTES_PER_LETTER = 2;
/** What is cut out of a text holds on to the whole of it, from this length on. */
const MIN_SLICED_LENGTH = 13;

/** A server's own text, put into words once. */
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

/** As it is, letter by letter: half a letter at its end too, as a question would have it. */
function copyString(term: string): string {
  return term.length < MIN_SLICED_LENGTH ? term : Buffer.from(term, 'utf16le').toString('utf16le');
}

interface Parameter {
  readonly key: string;
  readonly schema: JsonObject;
}

/** From the outside in, and so many: what is nested deep in a schema is no word by which a tool is looked for. */
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
        // Also those that are none: whoever writes thousands is not read to the end.
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

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
