import { isRecord } from '../result/isRecord.ts';
import { sameJson } from '../result/sameJson.ts';
import { strings } from '../strings/strings.ts';
import { checkNumber, checkText } from './checkScalar.ts';
import type { Draft, Entry } from './draft.ts';
import { pathKey, type FieldPath } from './fieldPath.ts';
import type { FormNode, ListNode, MapNode, ObjectNode } from './formNode.ts';
import type { Places } from './placeErrors.ts';
import type { Form } from './readForm.ts';
import { readNode } from './readNode.ts';

export interface FieldError {
  readonly path: FieldPath;
  readonly message: string;
}

export interface ReadDraft {
  /** Undefined: nothing was entered. Only good if there are no errors. */
  readonly value: unknown;
  readonly errors: readonly FieldError[];
  readonly places: Places;
}

/**
 * What a form says, and what is wrong with it. Optional places that are empty are left out. Patterns of the schema are
 * not tried here: they are a server's, and one of them can keep a browser busy for ever. The gateway checks them safely.
 */
export function readDraft({ root, node: first }: Form, draft: Draft): ReadDraft {
  const errors: FieldError[] = [];
  const places = new Map<string, { isWhole: boolean }>();
  const words = strings.tools.form.errors;

  /** What was entered goes on as it is, so that nothing is lost on the way to JSON. */
  function fail(path: FieldPath, message: string, entered?: string): unknown {
    errors.push({ path, message });
    return entered;
  }

  function nothing(path: FieldPath, isRequired: boolean): unknown {
    return isRequired ? fail(path, words.required) : undefined;
  }

  function read(node: FormNode, entered: Draft, path: FieldPath, isRequired: boolean): unknown {
    places.set(pathKey(path), { isWhole: entered.kind === 'json' });
    switch (entered.kind) {
      case 'null':
        return null;
      case 'absent':
        return nothing(path, isRequired);
      case 'json':
        return readJson(node, entered.text, path, isRequired);
      case 'text':
        return readText(node, entered.text, path, isRequired);
      case 'choice':
        return node.kind === 'choice' && entered.index >= 0
          ? node.options[entered.index]?.value
          : nothing(path, isRequired);
      case 'boolean':
        // A switch that must say something says no until it is switched on.
        return entered.value ?? (isRequired ? false : undefined);
      case 'constant':
        return node.kind === 'constant' && (entered.isOn || isRequired) ? node.value : undefined;
      case 'object':
        return node.kind === 'object' ? readObject(node, entered, path) : undefined;
      case 'map':
        return node.kind === 'map' ? readMap(node, entered.entries, path) : undefined;
      case 'list':
        return node.kind === 'list' ? readList(node, entered.items, path) : undefined;
      case 'variants': {
        const variant = node.kind === 'variants' ? node.variants[entered.index] : undefined;
        return variant && read(readNode(root, variant.schema), entered.draft, path, isRequired);
      }
    }
  }

  function readText(node: FormNode, text: string, path: FieldPath, isRequired: boolean): unknown {
    const isNumber = node.kind === 'number';
    if ((isNumber ? text.trim() : text) === '') {
      return node.initial === '' && isRequired ? '' : nothing(path, isRequired);
    }
    if (isNumber) {
      const problem = checkNumber(node, text);
      return problem === undefined ? Number(text) : fail(path, problem, text);
    }
    const problem = node.kind === 'text' ? checkText(node, text) : undefined;
    return problem === undefined ? text : fail(path, problem, text);
  }

  function readJson(node: FormNode, text: string, path: FieldPath, isRequired: boolean): unknown {
    if (text.trim() === '') return nothing(path, isRequired);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return fail(path, words.json, text);
    }
    const isAllowed = node.kind !== 'json' || node.types.length === 0 || node.types.includes(typeOf(value));
    if (!isAllowed) fail(path, words.types(node.types.join(', ')));
    return value;
  }

  function readObject(node: ObjectNode, draft: Extract<Draft, { kind: 'object' }>, path: FieldPath): unknown {
    const members: [string, unknown][] = [];
    for (const [index, { name, schema, isRequired }] of node.properties.entries()) {
      const field = draft.fields[index];
      if (!field) continue;
      const value = read(readNode(root, schema), field, [...path, name], isRequired);
      if (value !== undefined) members.push([name, value]);
    }
    const any: FormNode = { ...node, kind: 'json', types: [] };
    members.push(...readEntries(any, draft.extras, path, new Set(members.map(([name]) => name))));
    // Not by assignment: a member may be called __proto__.
    return Object.fromEntries(members);
  }

  function readMap(node: MapNode, entries: readonly Entry[], path: FieldPath): unknown {
    return Object.fromEntries(readEntries(readNode(root, node.valueSchema), entries, path, new Set()));
  }

  function readEntries(
    node: FormNode,
    entries: readonly Entry[],
    path: FieldPath,
    taken: Set<string>,
  ): [string, unknown][] {
    return entries.flatMap(({ name, draft: entered }): [string, unknown][] => {
      const place = [...path, name];
      if (name === '') fail(place, words.nameMissing);
      else if (taken.has(name)) fail(place, words.nameTwice);
      taken.add(name);
      const value = read(node, entered, place, true);
      return value === undefined ? [] : [[name, value]];
    });
  }

  function readList(
    { itemSchema, minItems, maxItems, isUnique }: ListNode,
    items: readonly { readonly draft: Draft }[],
    path: FieldPath,
  ): unknown {
    const item = readNode(root, itemSchema);
    const values = items.map(({ draft: entered }, index) => read(item, entered, [...path, index], true));
    if (items.length < minItems) fail(path, words.fewItems(minItems));
    if (maxItems !== undefined && items.length > maxItems) fail(path, words.manyItems(maxItems));
    if (isUnique && hasTwice(values)) fail(path, words.twice);
    return values;
  }

  const value = read(first, draft, [], false);
  return { value, errors, places };
}

function hasTwice(values: readonly unknown[]): boolean {
  return values.some((value, index) => values.slice(0, index).some((other) => sameJson(value, other)));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return isRecord(value) ? 'object' : typeof value;
}
