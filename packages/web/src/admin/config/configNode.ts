import { secretMask } from '@behalf/contracts/plain';

/** A value of the configuration, ready to be shown. */
export type ConfigNode =
  | {
      readonly kind: 'branch';
      readonly isList: boolean;
      readonly children: readonly (readonly [string, ConfigNode])[];
    }
  | { readonly kind: 'text' | 'plain'; readonly text: string }
  | { readonly kind: 'empty'; readonly isList: boolean };

/** Part of a text: as it is, a secret that is not told, or the name of a variable. */
export interface ConfigTextPart {
  readonly kind: 'text' | 'secret' | 'variable';
  readonly text: string;
}

export function toConfigNode(value: unknown): ConfigNode {
  if (typeof value === 'string') return { kind: 'text', text: value };
  if (typeof value !== 'object' || value === null) return { kind: 'plain', text: String(value) };
  const isList = Array.isArray(value);
  const children = Object.entries(value).map(([name, child]) => [name, toConfigNode(child)] as const);
  return children.length === 0 ? { kind: 'empty', isList } : { kind: 'branch', isList, children };
}

/** What must be told apart inside a text: a mask is not the value, and `${NAME}` is read from the environment. */
export function splitConfigText(text: string): ConfigTextPart[] {
  const parts = text.split(/(\*{8}|\$\{[^}]*\})/);
  return parts
    .filter((part, index) => part !== '' || (index === 0 && parts.length === 1))
    .map((part) => ({
      kind: part === secretMask ? 'secret' : /^\$\{[^}]*\}$/.test(part) ? 'variable' : 'text',
      text: part,
    }));
}
