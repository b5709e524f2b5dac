import { type JsonRecord, isEqualJson, isRecord } from '../result/json.ts';
import type { Draft, Entry, FormNode, ListNode, ObjectNode, VariantsNode } from './formNode.ts';
import { type Form, parseNode } from './parseNode.ts';
import { collectValue } from './collectArguments.ts';

/** What lies deeper is written as JSON: nobody finds their way in such a form. */
const MAX_DEPTH = 10;
/** How many places one form has. References make a small schema as large as they like. */
const MAX_FIELDS = 600;
/** A list longer than this is written as JSON. */
const MAX_ITEMS = 100;
const MAX_INITIAL_ITEMS = 10;

/** A form that nobody has touched: what the schema fills in, and nothing else. */
export function createDraft({ root, node }: Form): Draft {
  return createDraftBuilder(root).emptyDraft(node, { isRequired: true, depth: 0 });
}

/** A form that holds the arguments, whole: what has no place of its own stands there as JSON. */
export function draftFromArguments({ root, node }: Form, args: unknown): Draft {
  return createDraftBuilder(root).draftFromValue(node, args, 0);
}

/** What is there when somebody adds something optional, or another item. */
export function createNewDraft(root: JsonRecord, node: FormNode, depth: number): Draft {
  return createDraftBuilder(root).emptyDraft(node, { isRequired: true, depth });
}

function createDraftBuilder(root: JsonRecord) {
  let remainingFields = MAX_FIELDS;

  function emptyDraft(node: FormNode, { isRequired, depth }: { isRequired: boolean; depth: number }): Draft {
    remainingFields -= 1;
    if (remainingFields < 0 || depth > MAX_DEPTH) return { kind: 'json', text: '' };
    const { defaultValue } = node;
    // Leaving it out says the same as null, or as an empty text.
    const isOmittable = defaultValue === '' || (defaultValue === null && !isRequired);
    if (defaultValue !== undefined && !isOmittable) return draftFromValue(node, defaultValue, depth);
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
        return isRequired ? emptyGroupDraft(node, depth) : { kind: 'absent' };
    }
  }

  function emptyGroupDraft(
    node: Extract<FormNode, { kind: 'object' | 'map' | 'list' | 'variants' }>,
    depth: number,
  ): Draft {
    switch (node.kind) {
      case 'object': {
        const fields = node.properties.map(({ schema, isRequired }) =>
          emptyDraft(parseNode(root, schema), { isRequired, depth: depth + 1 }),
        );
        return { kind: 'object', fields, extras: [] };
      }
      case 'map':
        return { kind: 'map', entries: [] };
      case 'list': {
        const count = Math.min(node.minItems, MAX_INITIAL_ITEMS);
        const item = parseNode(root, node.itemSchema);
        const items = Array.from({ length: count }, (_, index) => ({
          id: index + 1,
          draft: emptyDraft(item, { isRequired: true, depth: depth + 1 }),
        }));
        return { kind: 'list', items };
      }
      case 'variants': {
        const [first] = node.variants;
        const draft = emptyDraft(parseNode(root, first?.schema), { isRequired: true, depth: depth + 1 });
        return { kind: 'variants', index: 0, draft };
      }
    }
  }

  function draftFromValue(node: FormNode, value: unknown, depth: number): Draft {
    remainingFields -= 1;
    const exact = remainingFields >= 0 && depth <= MAX_DEPTH ? exactDraft(node, value, depth) : undefined;
    return exact ?? { kind: 'json', text: toJsonText(value) };
  }

  /** The draft that says exactly this value; undefined where the place has no room for it. */
  function exactDraft(node: FormNode, value: unknown, depth: number): Draft | undefined {
    if (value === null && node.isNullable) return { kind: 'null' };
    switch (node.kind) {
      case 'text':
        // Empty means left out, unless that is what the schema fills in.
        return typeof value === 'string' && (value !== '' || node.defaultValue === '')
          ? { kind: 'text', text: value }
          : undefined;
      case 'number':
        return typeof value === 'number' ? { kind: 'text', text: String(value) } : undefined;
      case 'boolean':
        return typeof value === 'boolean' ? { kind: 'boolean', value } : undefined;
      case 'constant':
        return isEqualJson(value, node.value) ? { kind: 'constant', isOn: true } : undefined;
      case 'choice': {
        const index = node.options.findIndex((option) => isEqualJson(option.value, value));
        return index === -1 ? undefined : { kind: 'choice', index };
      }
      case 'object':
        return isRecord(value) ? objectDraft(node, value, depth) : undefined;
      case 'map':
        return isRecord(value) ? mapDraft(parseNode(root, node.valueSchema), value, depth) : undefined;
      case 'list':
        return Array.isArray(value) ? listDraft(node, value, depth) : undefined;
      case 'variants':
        return variantDraft(node, value, depth);
      case 'json':
        return undefined;
    }
  }

  function objectDraft({ properties }: ObjectNode, value: JsonRecord, depth: number): Draft | undefined {
    const fields = properties.map(({ name, schema, isRequired }) => {
      const field = parseNode(root, schema);
      if (Object.hasOwn(value, name)) return draftFromValue(field, value[name], depth + 1);
      // What is required cannot stay left out, so it is as in a new form.
      return isRequired ? emptyDraft(field, { isRequired, depth: depth + 1 }) : omittedDraft(field);
    });
    const declaredNames = new Set(properties.map(({ name }) => name));
    const extras = Object.entries(value).filter(([name]) => !declaredNames.has(name));
    if (extras.length > MAX_ITEMS) return undefined;
    return {
      kind: 'object',
      fields,
      extras: extras.map(([name, one], index) => createEntry(index, name, jsonDraft(one))),
    };
  }

  function mapDraft(node: FormNode, value: JsonRecord, depth: number): Draft | undefined {
    const entries = Object.entries(value);
    if (entries.length > MAX_ITEMS) return undefined;
    return {
      kind: 'map',
      entries: entries.map(([name, one], index) =>
        createEntry(index, name, draftFromValue(node, one, depth + 1)),
      ),
    };
  }

  function listDraft(node: ListNode, value: readonly unknown[], depth: number): Draft | undefined {
    if (value.length > MAX_ITEMS) return undefined;
    const item = parseNode(root, node.itemSchema);
    return {
      kind: 'list',
      items: value.map((one, index) => ({ id: index + 1, draft: draftFromValue(item, one, depth + 1) })),
    };
  }

  /** The variant that has nothing against the value; if all have, the first that can show it. */
  function variantDraft({ variants }: VariantsNode, value: unknown, depth: number): Draft | undefined {
    let fallback: Draft | undefined;
    for (const [index, { schema }] of variants.entries()) {
      const node = parseNode(root, schema);
      const draft = draftFromValue(node, value, depth + 1);
      if (draft.kind === 'json' && node.kind !== 'json') continue;
      const result: Draft = { kind: 'variants', index, draft };
      if (collectValue({ root, node }, draft).errors.length === 0) return result;
      fallback ??= result;
    }
    return fallback;
  }

  return { emptyDraft, draftFromValue };
}

/** What somebody left out stays left out, whatever the schema would fill in. */
function omittedDraft({ kind }: FormNode): Draft {
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

function createEntry(index: number, name: string, draft: Draft): Entry {
  return { id: index + 1, name, draft };
}

function jsonDraft(value: unknown): Draft {
  return { kind: 'json', text: toJsonText(value) };
}

function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    // Nested too deep to be written.
    return '';
  }
}
