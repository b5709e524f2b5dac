import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { safeHref } from '../../result/safeHref.ts';
import type { Mark, Wrapping } from './marks.ts';

type Root = ReturnType<typeof fromMarkdown>;
type Node = Root | Root['children'][number];
interface Reading {
  readonly source: string;
  readonly definitions: ReadonlyMap<string, string>;
}

const options = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };

/** More than that in one piece takes too long to read while somebody waits. */
const LARGEST = 8_000;
/** Deeper than anything that people write; what is deeper is text. */
const DEEPEST = 24;

/** The Markdown of a model as a tree of what we show. Never throws: what cannot be read is text. */
export function readMarkdown(source: string, definitions = ''): readonly Mark[] {
  if (source.length > LARGEST || isKnotted(source)) return [{ kind: 'plain', text: source }];
  try {
    const root = fromMarkdown(definitions === '' ? source : `${source}\n\n${definitions}`, options);
    const reading = { source, definitions: definitionsOf(root) };
    return readAll(root.children, reading, 0);
  } catch {
    return [{ kind: 'plain', text: source }];
  }
}

/** Whether it is mostly signs, and many: written to keep a reader busy, who looks for the end of each. */
function isKnotted(source: string): boolean {
  const signs = source.match(/[*_~[\]!<>&`]/g)?.length ?? 0;
  return signs > 200 && signs > source.length / 4;
}

function definitionsOf(root: Root): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const node of root.children)
    if (node.type === 'definition' && !found.has(node.identifier)) found.set(node.identifier, node.url);
  return found;
}

function readAll(nodes: readonly Node[], reading: Reading, depth: number): Mark[] {
  return nodes.flatMap((node) => read(node, reading, depth));
}

const wrappings: Readonly<Record<string, Wrapping>> = {
  paragraph: 'paragraph',
  strong: 'strong',
  emphasis: 'emphasis',
  delete: 'struck',
  blockquote: 'quote',
  tableCell: 'cell',
};

function read(node: Node, reading: Reading, depth: number): Mark | Mark[] {
  if (depth > DEEPEST) return asText(node, reading);
  const inside = () => ('children' in node ? readAll(node.children, reading, depth + 1) : []);
  switch (node.type) {
    case 'text':
      return { kind: 'text', text: node.value };
    case 'inlineCode':
      return { kind: 'inlineCode', text: node.value };
    case 'code':
      return { kind: 'code', text: node.value, language: node.lang ?? '' };
    case 'break':
      return { kind: 'break' };
    case 'thematicBreak':
      return { kind: 'rule' };
    case 'heading':
      return { kind: 'heading', level: node.depth, children: inside() };
    case 'list':
      return { kind: 'list', start: node.ordered ? (node.start ?? 1) : null, children: inside() };
    case 'listItem':
      return { kind: 'item', isChecked: node.checked ?? null, children: inside() };
    case 'table':
      return {
        kind: 'table',
        align: node.align ?? [],
        rows: node.children.map((row) => readAll(row.children, reading, depth + 1)),
      };
    case 'link':
      return link(node.url, inside());
    case 'linkReference':
      return link(reading.definitions.get(node.identifier) ?? '', inside());
    case 'image':
      return link(node.url, imageText(node.alt, node.url));
    case 'imageReference': {
      const url = reading.definitions.get(node.identifier) ?? '';
      return link(url, imageText(node.alt, url));
    }
    case 'definition':
      return [];
    default: {
      const kind = wrappings[node.type];
      // The rest is HTML, footnotes and whatever a later version of the reader finds.
      return kind === undefined ? asText(node, reading) : { kind, children: inside() };
    }
  }
}

/** Pictures are not fetched: whoever put one there would learn who reads, and what the address was made to carry. */
function imageText(alt: string | null | undefined, url: string): Mark[] {
  return [{ kind: 'text', text: alt || url }];
}

/** Leads somewhere only where that is a page of the web; other addresses are shown beside the words. */
function link(url: string, children: readonly Mark[]): Mark | Mark[] {
  const href = safeHref(url);
  if (href !== undefined) return { kind: 'link', href, host: new URL(href).host, children };
  return url === '' ? [...children] : [...children, { kind: 'text', text: ` (${url})` }];
}

/** As it was written. */
function asText(node: Node, { source }: Reading): Mark {
  const { start, end } = node.position ?? {};
  return { kind: 'text', text: source.slice(start?.offset ?? 0, end?.offset ?? 0) };
}
