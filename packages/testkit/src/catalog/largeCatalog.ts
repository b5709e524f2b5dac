import { businessWords } from './businessWords.ts';
import { cloudWords } from './cloudWords.ts';
import { codeWords } from './codeWords.ts';
import { talkWords } from './talkWords.ts';
import { watchWords } from './watchWords.ts';
import type { ServerWords, Thing, Verb } from './words.ts';

export interface CatalogFixtureTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, boolean>>;
}

export interface CatalogFixtureServer {
  readonly name: string;
  readonly tools: readonly CatalogFixtureTool[];
}

type Fields = Readonly<Record<string, string>>;

interface Deed {
  /** Whether the name says one thing or many. */
  readonly names: 'one' | 'many';
  readonly does: (one: string, many: string, product: string) => string;
  /** Which of the thing's own fields it takes, and others besides. */
  readonly own: 'all' | 'key' | 'none';
  readonly more: Fields;
}

const paging: Fields = { limit: 'How many at most', cursor: 'Where to go on' };

const deeds: Readonly<Record<Verb, Deed>> = {
  list: {
    names: 'many',
    does: (_, many, product) => `Lists ${many} of ${product}.`,
    own: 'none',
    more: { ...paging, sort: 'Order: created|updated' },
  },
  get: {
    names: 'one',
    does: (one, _, product) => `Gets one ${one} of ${product} with all its details.`,
    own: 'none',
    more: { id: 'Id' },
  },
  describe: {
    names: 'one',
    does: (one, _, product) => `Describes one ${one} of ${product} with its settings and state.`,
    own: 'key',
    more: {},
  },
  create: {
    names: 'one',
    does: (one, _, product) => `Creates a new ${one} in ${product}.`,
    own: 'all',
    more: {},
  },
  update: {
    names: 'one',
    does: (one, _, product) => `Changes an existing ${one} in ${product}.`,
    own: 'all',
    more: { id: 'Id' },
  },
  delete: {
    names: 'one',
    does: (one, _, product) => `Deletes a ${one} from ${product} for good.`,
    own: 'none',
    more: { id: 'Id' },
  },
  search: {
    names: 'many',
    does: (_, many, product) => `Searches ${many} of ${product} by words and fields.`,
    own: 'none',
    more: { query: 'What to look for', ...paging },
  },
  count: {
    names: 'many',
    does: (_, many, product) => `Counts ${many} of ${product} by a filter.`,
    own: 'none',
    more: { filter: 'Which ones' },
  },
  archive: {
    names: 'one',
    does: (one, _, product) => `Archives a ${one} of ${product}: it stays readable.`,
    own: 'key',
    more: {},
  },
  export: {
    names: 'many',
    does: (_, many, product) => `Exports ${many} of ${product} to a file.`,
    own: 'none',
    more: { format: 'Format: csv|json' },
  },
  share: {
    names: 'one',
    does: (one, _, product) => `Shares a ${one} of ${product} by a link.`,
    own: 'key',
    more: { expires: 'Until when' },
  },
};

/** A thousand tools of sixteen servers, many of them alike: what a company with everything connected has. */
export function largeCatalog(): readonly CatalogFixtureServer[] {
  return [...codeWords, ...talkWords, ...businessWords, ...cloudWords, ...watchWords].map(serverOf);
}

function serverOf({ name, product, style, verbs, things, specials }: ServerWords): CatalogFixtureServer {
  const usual = things.flatMap((thing) => verbs.map((verb) => toolOf(verb, thing, product, style)));
  const special = specials.map(([own, does, fields]) => ({
    name: own,
    description: does,
    inputSchema: schemaOf(fields),
  }));
  return { name, tools: [...usual, ...special] };
}

function toolOf(
  verb: Verb,
  [one, many, about, fields]: Thing,
  product: string,
  style: ServerWords['style'],
): CatalogFixtureTool {
  const { names, does, own, more } = deeds[verb];
  const called = names === 'one' ? one : many;
  const taken =
    own === 'all' ? fields : own === 'key' ? Object.fromEntries(Object.entries(fields).slice(0, 2)) : {};
  const reads = ['list', 'get', 'describe', 'search', 'count'].includes(verb);
  return {
    name: joined(verb, called, style),
    description: `${does(said(one), said(many), product)} ${about}`,
    inputSchema: schemaOf({ ...taken, ...more }),
    ...(reads && { annotations: { readOnlyHint: true } }),
    ...(verb === 'delete' && { annotations: { destructiveHint: true } }),
  };
}

function joined(verb: string, called: string, style: ServerWords['style']): string {
  if (style === 'snake') return `${verb}_${called}`;
  return style === 'kebab'
    ? `${verb}-${called}`
    : `${verb}${called.charAt(0).toUpperCase()}${called.slice(1)}`;
}

/** As a person writes it: `pull_request` is a pull request. */
function said(name: string): string {
  return name
    .replaceAll(/[_-]/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
}

function schemaOf(fields: Fields): CatalogFixtureTool['inputSchema'] {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const [description, choices] = text.includes('|') ? text.split(': ') : [text];
      return [
        name,
        { type: 'string', description, ...(choices !== undefined && { enum: choices.split('|') }) },
      ];
    }),
  );
  return { type: 'object', properties, additionalProperties: false };
}
