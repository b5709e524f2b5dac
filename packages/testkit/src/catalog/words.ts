/** What one kind of thing is called, what it is, and what one says about it. `a|b` at the end of a text are its choices. */
export type ResourceWords = readonly [
  one: string,
  many: string,
  about: string,
  fields: Readonly<Record<string, string>>,
];

/** What can be done with a thing; each server has some of these, under names of its own style. */
export type Verb =
  | 'list'
  | 'get'
  | 'create'
  | 'update'
  | 'delete'
  | 'search'
  | 'count'
  | 'archive'
  | 'export'
  | 'share'
  | 'describe';

/** A tool that is like no other: name, what it does, and its parameters. */
export type SpecialTool = readonly [name: string, does: string, fields: Readonly<Record<string, string>>];

export interface ServerWords {
  readonly name: string;
  readonly product: string;
  readonly style: 'snake' | 'camel' | 'kebab';
  readonly verbs: readonly Verb[];
  readonly resources: readonly ResourceWords[];
  readonly specials: readonly SpecialTool[];
}
