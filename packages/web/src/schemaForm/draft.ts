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
