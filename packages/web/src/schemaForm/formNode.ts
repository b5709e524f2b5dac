/** What every place of a form has. Its words are the server's. */
interface NodeBase {
  readonly title: string;
  readonly description: string;
  /** What the schema fills in; undefined: nothing. */
  readonly defaultValue: unknown;
  /** Whether null is a value for it, besides what its kind says. */
  readonly isNullable: boolean;
}

export interface TextNode extends NodeBase {
  readonly kind: 'text';
  readonly input: 'line' | 'area' | 'date' | 'email' | 'url' | 'password';
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  /** A list of allowed texts that is too long to choose from. */
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
  /** The schema has rules about further members that a form does not show. */
  readonly isPartial: boolean;
}

/** Names of the caller's own choice, each with a value. */
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

/** What a form cannot express: its value is written as JSON. */
export interface JsonNode extends NodeBase {
  readonly kind: 'json';
  /** The types it may have; none: any. */
  readonly types: readonly string[];
}

/** A place of a form. What stands below it is read from its schema when it is needed. */
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

/** Beside a place of the form: what somebody has entered there so far, finished or not. */
export type Draft =
  /** As it was typed: a text or a number; empty: nothing. */
  | { readonly kind: 'text'; readonly text: string }
  /** The option that was chosen; -1: none. */
  | { readonly kind: 'choice'; readonly index: number }
  | { readonly kind: 'boolean'; readonly value: boolean | undefined }
  | { readonly kind: 'constant'; readonly isOn: boolean }
  | { readonly kind: 'null' }
  /** Something optional that nobody has added. */
  | { readonly kind: 'absent' }
  /** One draft for each property of the node, in its order, and what stands there besides. */
  | { readonly kind: 'object'; readonly fields: readonly Draft[]; readonly extras: readonly Entry[] }
  | { readonly kind: 'map'; readonly entries: readonly Entry[] }
  | { readonly kind: 'list'; readonly items: readonly Item[] }
  | { readonly kind: 'variants'; readonly index: number; readonly draft: Draft }
  /** As it was typed. It may stand at any place: where the form could not hold a value, this can. */
  | { readonly kind: 'json'; readonly text: string };

export interface Item {
  /** Stays with the item wherever it is moved. */
  readonly id: number;
  readonly draft: Draft;
}

export interface Entry extends Item {
  readonly name: string;
}

export function nextItemId(items: readonly Item[]): number {
  return items.reduce((highest, { id }) => Math.max(highest, id), 0) + 1;
}
