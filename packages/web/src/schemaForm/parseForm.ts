import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import type { FormNode } from './formNode.ts';
import { parseNode } from './parseNode.ts';

/** The form of a tool: its schema, and the place where it begins. */
export interface Form {
  readonly root: JsonRecord;
  readonly node: FormNode;
}

/** The form for the arguments of a tool. They are always an object, also where the schema does not say so. */
export function parseForm(inputSchema: unknown): Form {
  const root = isRecord(inputSchema) ? inputSchema : {};
  const node = parseNode(root, root);
  if (node.kind === 'json' && !hasKeywords(root)) {
    const { title, description } = node;
    const emptyBase = { defaultValue: undefined, isNullable: false, properties: [], isPartial: false };
    return { root, node: { kind: 'object', title, description, ...emptyBase } };
  }
  return { root, node };
}

const IGNORED_KEYWORDS: ReadonlySet<string> = new Set(['type', 'title', 'description', '$schema', '$id']);

/** A tool without arguments is described in several ways, all of them by saying nothing. */
function hasKeywords(root: JsonRecord): boolean {
  return Object.entries(root).some(([name, value]) => !IGNORED_KEYWORDS.has(name) && !isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}
