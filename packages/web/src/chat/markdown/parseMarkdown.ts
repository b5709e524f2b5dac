import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { safeHref } from '../../result/safeHref.ts';

/** Allowlist of rendered Markdown. A text can produce no other element. */
export type MarkdownNode =
  | { readonly kind: 'text' | 'inlineCode' | 'plain'; readonly text: string }
  | { readonly kind: 'break' | 'rule' }
  | { readonly kind: 'code'; readonly text: string; readonly language: string }
  | {
      readonly kind: 'link';
      readonly href: string;
      readonly host: string;
      readonly children: readonly MarkdownNode[];
    }
  | { readonly kind: 'heading'; readonly level: number; readonly children: readonly MarkdownNode[] }
  | { readonly kind: 'list'; readonly start: number | null; readonly children: readonly MarkdownNode[] }
  | { readonly kind: 'item'; readonly isChecked: boolean | null; readonly children: readonly MarkdownNode[] }
  | {
      readonly kind: 'table';
      readonly align: readonly Alignment[];
      readonly rows: readonly (readonly MarkdownNode[])[];
    }
  | { readonly kind: WrapperKind; readonly children: readonly MarkdownNode[] };

type WrapperKind = 'paragraph' | 'strong' | 'emphasis' | 'strikethrough' | 'quote' | 'cell';
export type Alignment = 'left' | 'right' | 'center' | null;

type MdastRoot = ReturnType<typeof fromMarkdown>;
type MdastNode = MdastRoot | MdastRoot['children'][number];
interface ParseContext {
  readonly source: string;
  readonly definitions: ReadonlyMap<string, string>;
}

const options = { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] };

/** Longer blocks take too long to parse. They are shown as plain text. */
const MAX_PARSED_LENGTH = 8_000;
/** Maximum nesting depth. Deeper nodes are shown as source text. */
const MAX_DEPTH = 24;

/** Parses model output to a tree of allowed nodes. Never throws: unreadable Markdown becomes plain text. */
export function parseMarkdown(source: string, definitionSource = ''): readonly MarkdownNode[] {
  if (source.length > MAX_PARSED_LENGTH || isPathological(source)) return [{ kind: 'plain', text: source }];
  try {
    const root = fromMarkdown(definitionSource === '' ? source : `${source}\n\n${definitionSource}`, options);
    const context = { source, definitions: collectDefinitions(root) };
    return convertNodes(root.children, context, 0);
  } catch {
    return [{ kind: 'plain', text: source }];
  }
}

/** Detects text that consists mostly of markers. Its parsing time would block the page. */
function isPathological(source: string): boolean {
  const markerCount = source.match(/[*_~[\]!<>&`]/g)?.length ?? 0;
  return markerCount > 200 && markerCount > source.length / 4;
}

function collectDefinitions(root: MdastRoot): ReadonlyMap<string, string> {
  const definitions = new Map<string, string>();
  for (const node of root.children)
    if (node.type === 'definition' && !definitions.has(node.identifier))
      definitions.set(node.identifier, node.url);
  return definitions;
}

function convertNodes(nodes: readonly MdastNode[], context: ParseContext, depth: number): MarkdownNode[] {
  return nodes.flatMap((node) => convertNode(node, context, depth));
}

const wrapperKinds: Readonly<Record<string, WrapperKind>> = {
  paragraph: 'paragraph',
  strong: 'strong',
  emphasis: 'emphasis',
  delete: 'strikethrough',
  blockquote: 'quote',
  tableCell: 'cell',
};

function convertNode(node: MdastNode, context: ParseContext, depth: number): MarkdownNode | MarkdownNode[] {
  if (depth > MAX_DEPTH) return createSourceText(node, context);
  const convertChildren = () => ('children' in node ? convertNodes(node.children, context, depth + 1) : []);
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
      return { kind: 'heading', level: node.depth, children: convertChildren() };
    case 'list':
      return { kind: 'list', start: node.ordered ? (node.start ?? 1) : null, children: convertChildren() };
    case 'listItem':
      return { kind: 'item', isChecked: node.checked ?? null, children: convertChildren() };
    case 'table':
      return {
        kind: 'table',
        align: node.align ?? [],
        rows: node.children.map((row) => convertNodes(row.children, context, depth + 1)),
      };
    case 'link':
      return createLink(node.url, convertChildren());
    case 'linkReference':
      return createLink(context.definitions.get(node.identifier) ?? '', convertChildren());
    case 'image':
      return createLink(node.url, createImageText(node.alt, node.url));
    case 'imageReference': {
      const url = context.definitions.get(node.identifier) ?? '';
      return createLink(url, createImageText(node.alt, url));
    }
    case 'definition':
      return [];
    default: {
      const kind = wrapperKinds[node.type];
      // HTML, footnotes and unknown nodes become source text.
      return kind === undefined ? createSourceText(node, context) : { kind, children: convertChildren() };
    }
  }
}

/**
 * Replaces an image with its alternative text. Loading it would reveal the reader to its host, and
 * a model could leak conversation data through the URL.
 */
function createImageText(alt: string | null | undefined, url: string): MarkdownNode[] {
  return [{ kind: 'text', text: alt || url }];
}

/** Creates a link only for web addresses. Other addresses are shown after the link text. */
function createLink(url: string, children: readonly MarkdownNode[]): MarkdownNode | MarkdownNode[] {
  const href = safeHref(url);
  if (href !== undefined) return { kind: 'link', href, host: new URL(href).host, children };
  return url === '' ? [...children] : [...children, { kind: 'text', text: ` (${url})` }];
}

function createSourceText(node: MdastNode, { source }: ParseContext): MarkdownNode {
  const { start, end } = node.position ?? {};
  return { kind: 'text', text: source.slice(start?.offset ?? 0, end?.offset ?? 0) };
}

export interface TableChunks {
  /** Header row and delimiter row. */
  readonly head: string;
  /** Chunks of rows. */
  readonly bodies: readonly string[];
}

const MIN_TABLE_LENGTH = 2_000;
const MAX_BODY_LENGTH = 2_000;
/** All rows must start with a pipe. Other lines may belong to a different block. */
const rowPattern = /^ {0,3}\|/;
const delimiterPattern = /^ {0,3}\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$/;

/** Splits a large table into separately parsed chunks. Returns undefined for other blocks. */
export function splitTable(source: string): TableChunks | undefined {
  if (source.length < MIN_TABLE_LENGTH) return undefined;
  const lines = source.trimEnd().split('\n');
  const [header = '', delimiter = '', ...rows] = lines;
  if (!delimiterPattern.test(delimiter.replace(/\r$/, '')) || !lines.every((line) => rowPattern.test(line)))
    return undefined;
  const bodies: string[] = [];
  let body = '';
  for (const row of rows) {
    if (body.length > MAX_BODY_LENGTH) {
      bodies.push(body);
      body = '';
    }
    body += `${row}\n`;
  }
  if (body !== '') bodies.push(body);
  return { head: `${header}\n${delimiter}\n`, bodies };
}
