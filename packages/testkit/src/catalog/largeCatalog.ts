import { businessWords } from './businessWords.ts';
import { cloudWords } from './cloudWords.ts';
import { codeWords } from './codeWords.ts';
import { communicationWords } from './communicationWords.ts';
import { monitoringWords } from './monitoringWords.ts';
import type { ServerWords, ResourceWords, Verb } from './words.ts';

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

interface VerbTemplate {
  /** Whether the name says one thing or many. */
  readonly noun: 'one' | 'many';
  readonly describe: (one: string, many: string, product: string) => string;
  /** Which of the thing's own fields it takes, and others besides. */
  readonly ownFields: 'all' | 'key' | 'none';
  readonly extraFields: Fields;
}

const paging: Fields = { limit: 'How many at most', cursor: 'Where to go on' };

const verbTemplates: Readonly<Record<Verb, VerbTemplate>> = {
  list: {
    noun: 'many',
    describe: (_, many, product) => `Lists ${many} of ${product}.`,
    ownFields: 'none',
    extraFields: { ...paging, sort: 'Order: created|updated' },
  },
  get: {
    noun: 'one',
    describe: (one, _, product) => `Gets one ${one} of ${product} with all its details.`,
    ownFields: 'none',
    extraFields: { id: 'Id' },
  },
  describe: {
    noun: 'one',
    describe: (one, _, product) => `Describes one ${one} of ${product} with its settings and state.`,
    ownFields: 'key',
    extraFields: {},
  },
  create: {
    noun: 'one',
    describe: (one, _, product) => `Creates a new ${one} in ${product}.`,
    ownFields: 'all',
    extraFields: {},
  },
  update: {
    noun: 'one',
    describe: (one, _, product) => `Changes an existing ${one} in ${product}.`,
    ownFields: 'all',
    extraFields: { id: 'Id' },
  },
  delete: {
    noun: 'one',
    describe: (one, _, product) => `Deletes a ${one} from ${product} for good.`,
    ownFields: 'none',
    extraFields: { id: 'Id' },
  },
  search: {
    noun: 'many',
    describe: (_, many, product) => `Searches ${many} of ${product} by words and fields.`,
    ownFields: 'none',
    extraFields: { query: 'What to look for', ...paging },
  },
  count: {
    noun: 'many',
    describe: (_, many, product) => `Counts ${many} of ${product} by a filter.`,
    ownFields: 'none',
    extraFields: { filter: 'Which ones' },
  },
  archive: {
    noun: 'one',
    describe: (one, _, product) => `Archives a ${one} of ${product}: it stays readable.`,
    ownFields: 'key',
    extraFields: {},
  },
  export: {
    noun: 'many',
    describe: (_, many, product) => `Exports ${many} of ${product} to a file.`,
    ownFields: 'none',
    extraFields: { format: 'Format: csv|json' },
  },
  share: {
    noun: 'one',
    describe: (one, _, product) => `Shares a ${one} of ${product} by a link.`,
    ownFields: 'key',
    extraFields: { expires: 'Until when' },
  },
};

/** A thousand tools of sixteen servers, many of them alike: what a company with everything connected has. */
export function largeCatalog(): readonly CatalogFixtureServer[] {
  return [...codeWords, ...communicationWords, ...businessWords, ...cloudWords, ...monitoringWords].map(
    serverOf,
  );
}

function serverOf({ name, product, style, verbs, resources, specials }: ServerWords): CatalogFixtureServer {
  const verbTools = resources.flatMap((thing) => verbs.map((verb) => toolOf(verb, thing, product, style)));
  const specialTools = specials.map(([toolName, does, fields]) => ({
    name: toolName,
    description: does,
    inputSchema: schemaOf(fields),
  }));
  return { name, tools: [...verbTools, ...specialTools] };
}

function toolOf(
  verb: Verb,
  [one, many, hint, fields]: ResourceWords,
  product: string,
  style: ServerWords['style'],
): CatalogFixtureTool {
  const { noun, describe, ownFields, extraFields } = verbTemplates[verb];
  const resourceName = noun === 'one' ? one : many;
  const selectedFields =
    ownFields === 'all'
      ? fields
      : ownFields === 'key'
        ? Object.fromEntries(Object.entries(fields).slice(0, 2))
        : {};
  const isReadOnly = ['list', 'get', 'describe', 'search', 'count'].includes(verb);
  return {
    name: toToolName(verb, resourceName, style),
    description: `${describe(toPhrase(one), toPhrase(many), product)} ${hint}`,
    inputSchema: schemaOf({ ...selectedFields, ...extraFields }),
    ...(isReadOnly && { annotations: { readOnlyHint: true } }),
    ...(verb === 'delete' && { annotations: { destructiveHint: true } }),
  };
}

function toToolName(verb: string, resourceName: string, style: ServerWords['style']): string {
  if (style === 'snake') return `${verb}_${resourceName}`;
  return style === 'kebab'
    ? `${verb}-${resourceName}`
    : `${verb}${resourceName.charAt(0).toUpperCase()}${resourceName.slice(1)}`;
}

/** As a person writes it: `pull_request` is a pull request. */
function toPhrase(name: string): string {
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
