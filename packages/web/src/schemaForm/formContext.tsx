import { createContext, useContext } from 'react';
import type { JsonRecord } from '../result/json.ts';
import { strings } from '../strings/strings.ts';
import styles from './SchemaForm.module.css';
import { type FieldPath, pathKey } from './fieldPath.ts';
import type { Draft, FormNode } from './formNode.ts';

/** Data that all fields of a form need. */
interface FormContext {
  readonly root: JsonRecord;
  /** By path key. */
  readonly errors: ReadonlyMap<string, string>;
}

export const formContext = createContext<FormContext>({ root: {}, errors: new Map() });

/** The error at a path. */
export function useFieldError(path: FieldPath): string | undefined {
  return useContext(formContext).errors.get(pathKey(path));
}

export function useRootSchema(): JsonRecord {
  return useContext(formContext).root;
}

/** A field with its current input. */
export interface FieldProps<N extends FormNode = FormNode, D extends Draft = Draft> {
  readonly node: N;
  readonly draft: D;
  readonly label: string;
  readonly path: FieldPath;
  readonly isRequired: boolean;
  readonly onChange: (draft: Draft, path: FieldPath) => void;
}

/** The server's description of a field, and the limits of its schema. */
export function renderFieldHint(node: FormNode, extra = '') {
  const hintText = [node.description, describeLimits(node), extra].filter(Boolean).join('\n');
  return hintText === '' ? undefined : <span className={styles['hint']}>{hintText}</span>;
}

/** The limits in words; empty if there are none. */
function describeLimits(node: FormNode): string {
  const words = strings.tools.form;
  const parts: (string | false)[] = [];
  const limit = (describe: (limit: string) => string, value: number | undefined) =>
    value !== undefined && describe(String(value));
  if (node.kind === 'number') {
    parts.push(node.isInteger && words.whole);
    parts.push(limit(words.atLeast, node.min), limit(words.above, node.above));
    parts.push(limit(words.atMost, node.max), limit(words.below, node.below), limit(words.step, node.step));
  }
  if (node.kind === 'text') {
    const { minLength, maxLength } = node;
    parts.push(minLength !== undefined && minLength > 1 && words.atLeast(words.characters(minLength)));
    parts.push(maxLength !== undefined && words.atMost(words.characters(maxLength)));
  }
  if (node.kind === 'list') {
    const { minItems, maxItems } = node;
    parts.push(minItems > 0 && words.atLeast(words.items(minItems)));
    parts.push(maxItems !== undefined && words.atMost(words.items(maxItems)));
  }
  const text = parts.filter((part) => part !== false).join(', ');
  return text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
