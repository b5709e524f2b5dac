import type { Json } from '../../upstream/upstream.ts';
import type { CatalogTool } from '../toolList.ts';
import { termsOf } from './terms.ts';

/** The words of one tool, sorted, with how much each of them says about it. */
export interface ToolText {
  readonly terms: readonly string[];
  readonly weights: Float32Array;
  /** How many words it is described with. Parameters are not counted: to have many is no fault. */
  readonly length: number;
}

/** A name says what a tool does; what a parameter is for says little. */
const weightOf = {
  name: 3,
  title: 2.5,
  server: 2,
  description: 1.2,
  parameter: 0.8,
  choice: 0.6,
  about: 0.4,
};

/** The server chose every word of it: whoever writes a book is read as far as anybody else. */
const most = {
  ...{ name: 256, title: 256, description: 2_000, parameter: 64, choice: 64, about: 300 },
  ...{ depth: 4, parameters: 100, choices: 30, terms: 400, times: 2 },
};

/** A server's own text, put into words once. */
export function readToolText(
  { name, title, description, inputSchema }: CatalogTool,
  server: string,
): ToolText {
  const counted = new Map<string, { weight: number; times: number }>();
  let length = 0;

  function add(field: keyof typeof weightOf, text: unknown): void {
    if (typeof text !== 'string') return;
    const isProse = field === 'description' || field === 'title';
    const longest = field === 'server' ? most.name : most[field];
    for (const term of termsOf(text.slice(0, longest))) {
      if (isProse) length += 1;
      const known = counted.get(term);
      if (!known) {
        if (counted.size < most.terms) counted.set(term, { weight: weightOf[field], times: 1 });
      } else if (known.times < most.times) {
        known.times += 1;
        known.weight += weightOf[field];
      }
    }
  }

  add('name', name);
  add('server', server);
  add('title', title);
  add('description', description);
  for (const { key, schema } of parametersOf(inputSchema)) {
    add('parameter', key);
    add('about', schema['description']);
    for (const choice of choicesOf(schema)) add('choice', choice);
  }
  const sorted = [...counted].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    terms: sorted.map(([term]) => term),
    weights: Float32Array.from(sorted, ([, { weight }]) => weight),
    length,
  };
}

interface Parameter {
  readonly key: string;
  readonly schema: Json;
}

/** From the outside in, and so many: what is nested deep in a schema is no word by which a tool is looked for. */
function parametersOf(inputSchema: Json): Parameter[] {
  const found: Parameter[] = [];
  let level: Json[] = [inputSchema];
  for (let depth = 0; depth < most.depth && level.length > 0; depth += 1) {
    const next: Json[] = [];
    for (const { properties, items } of level) {
      if (isObject(items)) next.push(items);
      if (!isObject(properties)) continue;
      for (const key in properties) {
        if (found.length >= most.parameters) return found;
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

function choicesOf({ enum: choices, const: only }: Json): unknown[] {
  if (only !== undefined) return [only];
  return Array.isArray(choices) ? choices.slice(0, most.choices) : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
