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

export interface BooleanNode extends NodeBase {
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
