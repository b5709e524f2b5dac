import { type JsonRecord, isEqualJson, isRecord } from '../result/json.ts';
import { strings } from '../strings/strings.ts';
import { type FieldPath, type FormFields, pathKey } from './fieldPath.ts';
import type {
  Draft,
  Entry,
  FormNode,
  ListNode,
  MapNode,
  NumberNode,
  ObjectNode,
  TextNode,
} from './formNode.ts';
import { type Form, parseNode } from './parseNode.ts';

interface CollectedArguments {
  /** Valid only without errors. */
  readonly args: JsonRecord;
  readonly errors: readonly FieldError[];
  readonly formFields: FormFields;
}

/** The arguments from a form. */
export function collectArguments(form: Form, draft: Draft): CollectedArguments {
  const { value = {}, errors, formFields } = collectValue(form, draft);
  if (isRecord(value)) return { args: value, errors, formFields };
  return {
    args: {},
    errors: [...errors, { path: [], message: strings.tools.form.errors.object }],
    formFields,
  };
}

/** Parses arguments written as JSON. Empty text means an empty object. */
export function parseArguments(text: string): { readonly args: JsonRecord } | { readonly problem: string } {
  const words = strings.tools.form.errors;
  if (text.trim() === '') return { args: {} };
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { args: value } : { problem: words.object };
  } catch {
    return { problem: words.json };
  }
}

interface FieldError {
  readonly path: FieldPath;
  readonly message: string;
}

interface CollectedValue {
  /** Undefined if nothing was entered. Valid only without errors. */
  readonly value: unknown;
  readonly errors: readonly FieldError[];
  readonly formFields: FormFields;
}

/**
 * Collects the value of a form and its errors. Empty optional fields are omitted. Patterns are not evaluated here:
 * they come from a server and can block the browser (ReDoS). The gateway evaluates them safely.
 */
export function collectValue({ root, node: first }: Form, draft: Draft): CollectedValue {
  const errors: FieldError[] = [];
  const formFields = new Map<string, { holdsSubtree: boolean }>();
  const words = strings.tools.form.errors;

  /** Keeps the entered text, so that switching to JSON loses nothing. */
  function addError(path: FieldPath, message: string, fieldDraft?: string): unknown {
    errors.push({ path, message });
    return fieldDraft;
  }

  function omitValue(path: FieldPath, isRequired: boolean): unknown {
    return isRequired ? addError(path, words.required) : undefined;
  }

  function collectField(node: FormNode, fieldDraft: Draft, path: FieldPath, isRequired: boolean): unknown {
    formFields.set(pathKey(path), { holdsSubtree: fieldDraft.kind === 'json' });
    switch (fieldDraft.kind) {
      case 'null':
        return null;
      case 'absent':
        return omitValue(path, isRequired);
      case 'json':
        return collectJson(node, fieldDraft.text, path, isRequired);
      case 'text':
        return collectText(node, fieldDraft.text, path, isRequired);
      case 'choice':
        return node.kind === 'choice' && fieldDraft.index >= 0
          ? node.options[fieldDraft.index]?.value
          : omitValue(path, isRequired);
      case 'boolean':
        // A required switch is false until the user turns it on.
        return fieldDraft.value ?? (isRequired ? false : undefined);
      case 'constant':
        return node.kind === 'constant' && (fieldDraft.isOn || isRequired) ? node.value : undefined;
      case 'object':
        return node.kind === 'object' ? collectObject(node, fieldDraft, path) : undefined;
      case 'map':
        return node.kind === 'map' ? collectMap(node, fieldDraft.entries, path) : undefined;
      case 'list':
        return node.kind === 'list' ? collectList(node, fieldDraft.items, path) : undefined;
      case 'variants': {
        const variant = node.kind === 'variants' ? node.variants[fieldDraft.index] : undefined;
        return variant && collectField(parseNode(root, variant.schema), fieldDraft.draft, path, isRequired);
      }
    }
  }

  function collectText(node: FormNode, text: string, path: FieldPath, isRequired: boolean): unknown {
    const isNumber = node.kind === 'number';
    if ((isNumber ? text.trim() : text) === '') {
      return node.defaultValue === '' && isRequired ? '' : omitValue(path, isRequired);
    }
    if (isNumber) {
      const problem = validateNumber(node, text);
      return problem === undefined ? Number(text) : addError(path, problem, text);
    }
    const problem = node.kind === 'text' ? validateText(node, text) : undefined;
    return problem === undefined ? text : addError(path, problem, text);
  }

  function collectJson(node: FormNode, text: string, path: FieldPath, isRequired: boolean): unknown {
    if (text.trim() === '') return omitValue(path, isRequired);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return addError(path, words.json, text);
    }
    const isAllowed = node.kind !== 'json' || node.types.length === 0 || node.types.includes(jsonType(value));
    if (!isAllowed) addError(path, words.types(node.types.join(', ')));
    return value;
  }

  function collectObject(
    node: ObjectNode,
    draft: Extract<Draft, { kind: 'object' }>,
    path: FieldPath,
  ): unknown {
    const members: [string, unknown][] = [];
    for (const [index, { name, schema, isRequired }] of node.properties.entries()) {
      const field = draft.fields[index];
      if (!field) continue;
      const value = collectField(parseNode(root, schema), field, [...path, name], isRequired);
      if (value !== undefined) members.push([name, value]);
    }
    const anyNode: FormNode = { ...node, kind: 'json', types: [] };
    members.push(...collectEntries(anyNode, draft.extras, path, new Set(members.map(([name]) => name))));
    // Object.fromEntries, because assignment fails for a member named __proto__.
    return Object.fromEntries(members);
  }

  function collectMap(node: MapNode, entries: readonly Entry[], path: FieldPath): unknown {
    return Object.fromEntries(collectEntries(parseNode(root, node.valueSchema), entries, path, new Set()));
  }

  function collectEntries(
    node: FormNode,
    entries: readonly Entry[],
    path: FieldPath,
    usedNames: Set<string>,
  ): [string, unknown][] {
    return entries.flatMap(({ name, draft: fieldDraft }): [string, unknown][] => {
      const entryPath = [...path, name];
      if (name === '') addError(entryPath, words.nameMissing);
      else if (usedNames.has(name)) addError(entryPath, words.nameDuplicate);
      usedNames.add(name);
      const value = collectField(node, fieldDraft, entryPath, true);
      return value === undefined ? [] : [[name, value]];
    });
  }

  function collectList(
    { itemSchema, minItems, maxItems, isUnique }: ListNode,
    items: readonly { readonly draft: Draft }[],
    path: FieldPath,
  ): unknown {
    const item = parseNode(root, itemSchema);
    const values = items.map(({ draft: fieldDraft }, index) =>
      collectField(item, fieldDraft, [...path, index], true),
    );
    if (items.length < minItems) addError(path, words.tooFewItems(minItems));
    if (maxItems !== undefined && items.length > maxItems) addError(path, words.tooManyItems(maxItems));
    if (isUnique && hasDuplicates(values)) addError(path, words.duplicateItems);
    return values;
  }

  const value = collectField(first, draft, [], false);
  return { value, errors, formFields };
}

function hasDuplicates(values: readonly unknown[]): boolean {
  return values.some((value, index) => values.slice(0, index).some((other) => isEqualJson(value, other)));
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return isRecord(value) ? 'object' : typeof value;
}

const NUMBER_PATTERN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
/** A number in plain digits, which must not be rounded. */
const INTEGER_PATTERN = /^[+-]?\d+$/;
/** Tolerance for floating-point errors of `multipleOf`. */
const TOLERANCE = 1e-9;

/** The error of an entered text; undefined if it is valid. */
function validateText({ minLength, maxLength, allowed }: TextNode, text: string): string | undefined {
  const words = strings.tools.form.errors;
  if (allowed && !allowed.has(text)) return words.notAllowed;
  // A schema counts code points, a string counts UTF-16 units.
  let length = 0;
  for (const _character of text) length += 1;
  if (minLength !== undefined && length < minLength) return words.tooShort(minLength);
  return maxLength !== undefined && length > maxLength ? words.tooLong(maxLength) : undefined;
}

/** The error of an entered number; undefined if it is valid. */
function validateNumber(node: NumberNode, text: string): string | undefined {
  const words = strings.tools.form.errors;
  const { isInteger, min, max, above, below, step } = node;
  const value = Number(text);
  if (!NUMBER_PATTERN.test(text.trim()) || !Number.isFinite(value)) return words.number;
  if (INTEGER_PATTERN.test(text.trim()) && !Number.isSafeInteger(value)) return words.inexact;
  if (isInteger && !Number.isInteger(value)) return words.integer;
  if (min !== undefined && value < min) return words.min(min);
  if (max !== undefined && value > max) return words.max(max);
  if (above !== undefined && value <= above) return words.above(above);
  if (below !== undefined && value >= below) return words.below(below);
  return step !== undefined && !isMultiple(value, step) ? words.step(step) : undefined;
}

function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) < TOLERANCE * Math.max(1, Math.abs(quotient));
}
