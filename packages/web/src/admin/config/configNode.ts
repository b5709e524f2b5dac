import { secretMask } from '@behalf/contracts/plain';

/** Configuration value prepared for display. */
export type ConfigNode =
  | {
      readonly kind: 'branch';
      readonly isList: boolean;
      readonly children: readonly (readonly [string, ConfigNode])[];
    }
  | { readonly kind: 'text' | 'plain'; readonly text: string }
  | { readonly kind: 'empty'; readonly isList: boolean };

/** Part of a text: plain text, the mask of a secret, or a variable reference. */
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

/** Splits a text into plain parts, secret masks and `${NAME}` references to environment variables. */
export function splitConfigText(text: string): ConfigTextPart[] {
  const parts = text.split(/(\*{8}|\$\{[^}]*\})/);
  return parts
    .filter((part, index) => part !== '' || (index === 0 && parts.length === 1))
    .map((part) => ({
      kind: part === secretMask ? 'secret' : /^\$\{[^}]*\}$/.test(part) ? 'variable' : 'text',
      text: part,
    }));
}
