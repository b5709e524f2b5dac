import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import { sameJson } from '../result/sameJson.ts';
import type { Draft, Entry } from './draft.ts';
import type { FormNode, ListNode, ObjectNode, VariantsNode } from './formNode.ts';
import type { Form } from './readForm.ts';
import { readDraft } from './readDraft.ts';
import { readNode } from './readNode.ts';

/** What lies deeper is written as JSON: nobody finds their way in such a form. */
const DEEPEST = 10;
/** How many places one form has. References make a small schema as large as they like. */
const MOST_PLACES = 600;
/** A list longer than this is written as JSON. */
const MOST_ITEMS = 100;
const MOST_ITEMS_AT_FIRST = 10;

/** A form that nobody has touched: what the schema fills in, and nothing else. */
export function createDraft({ root, node }: Form): Draft {
  return createDrafting(root).empty(node, { isRequired: true, depth: 0 });
}

/** A form that holds the arguments, whole: what has no place of its own stands there as JSON. */
export function draftOf({ root, node }: Form, args: unknown): Draft {
  return createDrafting(root).filled(node, args, 0);
}

/** What is there when somebody adds something optional, or another item. */
export function draftOfNew(root: JsonRecord, node: FormNode, depth: number): Draft {
  return createDrafting(root).empty(node, { isRequired: true, depth });
}

function createDrafting(root: JsonRecord) {
  let left = MOST_PLACES;

  function empty(node: FormNode, { isRequired, depth }: { isRequired: boolean; depth: number }): Draft {
    left -= 1;
    if (left < 0 || depth > DEEPEST) return { kind: 'json', text: '' };
    const { initial } = node;
    // Leaving it out says the same as null, or as an empty text.
    const isSilent = initial === '' || (initial === null && !isRequired);
    if (initial !== undefined && !isSilent) return filled(node, initial, depth);
    switch (node.kind) {
      case 'text':
      case 'number':
        return { kind: 'text', text: '' };
      case 'choice':
        return { kind: 'choice', index: isRequired && node.options.length === 1 ? 0 : -1 };
      case 'boolean':
        return { kind: 'boolean', value: undefined };
      case 'constant':
        return { kind: 'constant', isOn: isRequired };
      case 'json':
        return { kind: 'json', text: '' };
      default:
        return isRequired ? emptyGroup(node, depth) : { kind: 'absent' };
    }
  }

  function emptyGroup(
    node: Extract<FormNode, { kind: 'object' | 'map' | 'list' | 'variants' }>,
    depth: number,
  ): Draft {
    switch (node.kind) {
      case 'object': {
        const fields = node.properties.map(({ schema, isRequired }) =>
          empty(readNode(root, schema), { isRequired, depth: depth + 1 }),
        );
        return { kind: 'object', fields, extras: [] };
      }
      case 'map':
        return { kind: 'map', entries: [] };
      case 'list': {
        const count = Math.min(node.minItems, MOST_ITEMS_AT_FIRST);
        const item = readNode(root, node.itemSchema);
        const items = Array.from({ length: count }, (_, index) => ({
          id: index + 1,
          draft: empty(item, { isRequired: true, depth: depth + 1 }),
        }));
        return { kind: 'list', items };
      }
      case 'variants': {
        const [first] = node.variants;
        const draft = empty(readNode(root, first?.schema), { isRequired: true, depth: depth + 1 });
        return { kind: 'variants', index: 0, draft };
      }
    }
  }

  function filled(node: FormNode, value: unknown, depth: number): Draft {
    left -= 1;
    const fits = left >= 0 && depth <= DEEPEST ? fitting(node, value, depth) : undefined;
    return fits ?? { kind: 'json', text: asJson(value) };
  }

  /** The draft that says exactly this value; undefined where the place has no room for it. */
  function fitting(node: FormNode, value: unknown, depth: number): Draft | undefined {
    if (value === null && node.isNullable) return { kind: 'null' };
    switch (node.kind) {
      case 'text':
        // Empty means left out, unless that is what the schema fills in.
        return typeof value === 'string' && (value !== '' || node.initial === '')
          ? { kind: 'text', text: value }
          : undefined;
      case 'number':
        return typeof value === 'number' ? { kind: 'text', text: String(value) } : undefined;
      case 'boolean':
        return typeof value === 'boolean' ? { kind: 'boolean', value } : undefined;
      case 'constant':
        return sameJson(value, node.value) ? { kind: 'constant', isOn: true } : undefined;
      case 'choice': {
        const index = node.options.findIndex((option) => sameJson(option.value, value));
        return index === -1 ? undefined : { kind: 'choice', index };
      }
      case 'object':
        return isRecord(value) ? filledObject(node, value, depth) : undefined;
      case 'map':
        return isRecord(value) ? filledMap(readNode(root, node.valueSchema), value, depth) : undefined;
      case 'list':
        return Array.isArray(value) ? filledList(node, value, depth) : undefined;
      case 'variants':
        return filledVariant(node, value, depth);
      case 'json':
        return undefined;
    }
  }

  function filledObject({ properties }: ObjectNode, value: JsonRecord, depth: number): Draft | undefined {
    const fields = properties.map(({ name, schema, isRequired }) => {
      const field = readNode(root, schema);
      if (Object.hasOwn(value, name)) return filled(field, value[name], depth + 1);
      // What is required cannot stay left out, so it is as in a new form.
      return isRequired ? empty(field, { isRequired, depth: depth + 1 }) : missing(field);
    });
    const known = new Set(properties.map(({ name }) => name));
    const extras = Object.entries(value).filter(([name]) => !known.has(name));
    if (extras.length > MOST_ITEMS) return undefined;
    return {
      kind: 'object',
      fields,
      extras: extras.map(([name, one], index) => entryOf(index, name, jsonOf(one))),
    };
  }

  function filledMap(node: FormNode, value: JsonRecord, depth: number): Draft | undefined {
    const entries = Object.entries(value);
    if (entries.length > MOST_ITEMS) return undefined;
    return {
      kind: 'map',
      entries: entries.map(([name, one], index) => entryOf(index, name, filled(node, one, depth + 1))),
    };
  }

  function filledList(node: ListNode, value: readonly unknown[], depth: number): Draft | undefined {
    if (value.length > MOST_ITEMS) return undefined;
    const item = readNode(root, node.itemSchema);
    return {
      kind: 'list',
      items: value.map((one, index) => ({ id: index + 1, draft: filled(item, one, depth + 1) })),
    };
  }

  /** The variant that has nothing against the value; if all have, the first that can show it. */
  function filledVariant({ variants }: VariantsNode, value: unknown, depth: number): Draft | undefined {
    let second: Draft | undefined;
    for (const [index, { schema }] of variants.entries()) {
      const node = readNode(root, schema);
      const draft = filled(node, value, depth + 1);
      if (draft.kind === 'json' && node.kind !== 'json') continue;
      const chosen: Draft = { kind: 'variants', index, draft };
      if (readDraft({ root, node }, draft).errors.length === 0) return chosen;
      second ??= chosen;
    }
    return second;
  }

  return { empty, filled };
}

/** What somebody left out stays left out, whatever the schema would fill in. */
function missing({ kind }: FormNode): Draft {
  switch (kind) {
    case 'text':
    case 'number':
      return { kind: 'text', text: '' };
    case 'choice':
      return { kind, index: -1 };
    case 'boolean':
      return { kind, value: undefined };
    case 'constant':
      return { kind, isOn: false };
    case 'json':
      return { kind, text: '' };
    default:
      return { kind: 'absent' };
  }
}

function entryOf(index: number, name: string, draft: Draft): Entry {
  return { id: index + 1, name, draft };
}

function jsonOf(value: unknown): Draft {
  return { kind: 'json', text: asJson(value) };
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    // Nested too deep to be written.
    return '';
  }
}
