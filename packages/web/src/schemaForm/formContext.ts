import { createContext, useContext } from 'react';
import type { JsonRecord } from '../result/isRecord.ts';
import { pathKey, type FieldPath } from './fieldPath.ts';
import type { Draft } from './draft.ts';
import type { FormNode } from './formNode.ts';

/** What every field of one form needs to know. */
export interface FormContext {
  readonly root: JsonRecord;
  /** By the key of the path. */
  readonly errors: ReadonlyMap<string, string>;
}

export const formContext = createContext<FormContext>({ root: {}, errors: new Map() });

/** What is wrong at a place of the form. */
export function useFieldError(path: FieldPath): string | undefined {
  return useContext(formContext).errors.get(pathKey(path));
}

export function useRootSchema(): JsonRecord {
  return useContext(formContext).root;
}

/** A place of the form with what was entered there. */
export interface FieldProps<N extends FormNode = FormNode, D extends Draft = Draft> {
  readonly node: N;
  readonly draft: D;
  readonly label: string;
  readonly path: FieldPath;
  readonly isRequired: boolean;
  readonly onChange: (draft: Draft, path: FieldPath) => void;
}
