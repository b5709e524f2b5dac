import { type JsonRecord, isEqualJson, isRecord } from '../result/json.ts';
import type { Draft, Entry, FormNode, ListNode, ObjectNode, VariantsNode } from './formNode.ts';
import { type Form, parseNode } from './parseNode.ts';
import { collectValue } from './collectArguments.ts';

/** Deeper values are edited as JSON. */
const MAX_DEPTH = 10;
/** The maximum number of fields. References can make a form of any size from a small schema. */
const MAX_FIELDS = 600;
/** Longer lists are edited as JSON. */
const MAX_ITEMS = 100;
const MAX_INITIAL_ITEMS = 10;

/** An untouched form with the defaults of the schema. */
export function createDraft({ root, node }: Form): Draft {
  return createDraftBuilder(root).emptyDraft(node, { isRequired: true, depth: 0 });
}

/** A form with the given arguments. Values that do not fit a field are edited as JSON. */
export function draftFromArguments({ root, node }: Form, args: unknown): Draft {
  return createDraftBuilder(root).draftFromValue(node, args, 0);
}

/** The draft of an added optional field or item. */
export function createNewDraft(root: JsonRecord, node: FormNode, depth: number): Draft {
  return createDraftBuilder(root).emptyDraft(node, { isRequired: true, depth });
}

function createDraftBuilder(root: JsonRecord) {
  let remainingFields = MAX_FIELDS;

  function emptyDraft(node: FormNode, { isRequired, depth }: { isRequired: boolean; depth: number }): Draft {
    remainingFields -= 1;
    if (remainingFields < 0 || depth > MAX_DEPTH) return { kind: 'json', text: '' };
    const { defaultValue } = node;
    // Omitting the value is equivalent to null or an empty text.
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

  /** The draft that represents exactly this value; undefined if the field cannot represent it. */
  function exactDraft(node: FormNode, value: unknown, depth: number): Draft | undefined {
    if (value === null && node.isNullable) return { kind: 'null' };
    switch (node.kind) {
      case 'text':
        // An empty text means omitted, unless it is the default.
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
      // A required field cannot be omitted, so it starts like in a new form.
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

  /** The first variant that accepts the value; otherwise the first that can represent it. */
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

/** An omitted value stays omitted, even if the schema has a default. */
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
    // Too deeply nested to serialize.
    return '';
  }
}
