/** Common properties of all fields. Texts come from the server. */
interface NodeBase {
  readonly title: string;
  readonly description: string;
  /** The default of the schema; undefined if none. */
  readonly defaultValue: unknown;
  /** Whether null is also a valid value. */
  readonly isNullable: boolean;
}

export interface TextNode extends NodeBase {
  readonly kind: 'text';
  readonly input: 'line' | 'area' | 'date' | 'email' | 'url' | 'password';
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  /** The allowed texts if there are too many for a choice. */
  readonly allowed: ReadonlySet<string> | undefined;
}

export interface NumberNode extends NodeBase {
  readonly kind: 'number';
  readonly isInteger: boolean;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly above: number | undefined;
  readonly below: number | undefined;
  readonly step: number | undefined;
}

interface BooleanNode extends NodeBase {
  readonly kind: 'boolean';
}

export interface ChoiceOption {
  readonly value: unknown;
  readonly label: string;
}

export interface ChoiceNode extends NodeBase {
  readonly kind: 'choice';
  readonly options: readonly ChoiceOption[];
}

export interface ConstantNode extends NodeBase {
  readonly kind: 'constant';
  readonly value: unknown;
}

export interface ObjectProperty {
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
}

export interface ObjectNode extends NodeBase {
  readonly kind: 'object';
  readonly properties: readonly ObjectProperty[];
  /** The schema has rules about further members, which the form does not show. */
  readonly isPartial: boolean;
}

/** Arbitrary names with a value each. */
export interface MapNode extends NodeBase {
  readonly kind: 'map';
  readonly valueSchema: unknown;
}

export interface ListNode extends NodeBase {
  readonly kind: 'list';
  readonly itemSchema: unknown;
  readonly minItems: number;
  readonly maxItems: number | undefined;
  readonly isUnique: boolean;
}

export interface Variant {
  readonly label: string;
  readonly schema: unknown;
}

export interface VariantsNode extends NodeBase {
  readonly kind: 'variants';
  readonly variants: readonly Variant[];
}

/** A value that the form cannot express and that is edited as JSON. */
export interface JsonNode extends NodeBase {
  readonly kind: 'json';
  /** The allowed types; empty for any. */
  readonly types: readonly string[];
}

/** A field of the form. Nested fields are created from the schema when they are needed. */
export type FormNode =
  | TextNode
  | NumberNode
  | BooleanNode
  | ChoiceNode
  | ConstantNode
  | ObjectNode
  | MapNode
  | ListNode
  | VariantsNode
  | JsonNode;

/** The current input of a field, complete or not. */
export type Draft =
  /** The typed text of a text or number; empty if none. */
  | { readonly kind: 'text'; readonly text: string }
  /** The index of the selected option; -1 for none. */
  | { readonly kind: 'choice'; readonly index: number }
  | { readonly kind: 'boolean'; readonly value: boolean | undefined }
  | { readonly kind: 'constant'; readonly isOn: boolean }
  | { readonly kind: 'null' }
  /** An optional value that was not added. */
  | { readonly kind: 'absent' }
  /** One draft per property of the node, in order, and additional members. */
  | { readonly kind: 'object'; readonly fields: readonly Draft[]; readonly extras: readonly Entry[] }
  | { readonly kind: 'map'; readonly entries: readonly Entry[] }
  | { readonly kind: 'list'; readonly items: readonly Item[] }
  | { readonly kind: 'variants'; readonly index: number; readonly draft: Draft }
  /** The typed text. Allowed for any field whose value the form cannot represent. */
  | { readonly kind: 'json'; readonly text: string };

export interface Item {
  /** Stays with the item when it is moved. */
  readonly id: number;
  readonly draft: Draft;
}

export interface Entry extends Item {
  readonly name: string;
}

export function nextItemId(items: readonly Item[]): number {
  return items.reduce((highest, { id }) => Math.max(highest, id), 0) + 1;
}
