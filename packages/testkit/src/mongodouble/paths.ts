import { outsideManifest, ServerError } from './serverError.ts';
import { isDoc, type Doc } from './values.ts';

/** The value at a dotted path through documents. Reaching through an array has rules of its own and is refused. */
export function getPath(doc: Doc, path: string): unknown {
  let value: unknown = doc;
  for (const step of steps(path)) {
    if (Array.isArray(value)) throw outsideManifest(`the path '${path}' through an array`);
    if (!isDoc(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** `overScalars`: a pipeline's $set puts an object in the place of a scalar on the way; an update operator refuses. */
export function setPath(doc: Doc, path: string, value: unknown, overScalars = false): void {
  const [parent, last] = reach(doc, path, overScalars ? 'replace' : 'create');
  if (parent) parent[last] = value;
}

export function unsetPath(doc: Doc, path: string): void {
  const [parent, last] = reach(doc, path, 'look');
  if (parent) Reflect.deleteProperty(parent, last);
}

function reach(doc: Doc, path: string, how: 'look' | 'create' | 'replace'): [Doc | null, string] {
  const all = steps(path);
  const last = all.pop() as string;
  let at = doc;
  for (const step of all) {
    const next = Object.hasOwn(at, step) ? at[step] : undefined;
    if (isDoc(next)) at = next;
    else if (Array.isArray(next)) throw outsideManifest(`the path '${path}' through an array`);
    else if (how === 'look') return [null, last];
    else if (next !== undefined && how === 'create') {
      throw new ServerError(28, 'PathNotViable', `Cannot create field '${step}' in path '${path}'`);
    } else {
      const made: Doc = {};
      at[step] = made;
      at = made;
    }
  }
  return [at, last];
}

function steps(path: string): string[] {
  const all = path.split('.');
  for (const step of all) {
    if (step === '')
      throw new ServerError(56, 'EmptyFieldName', `The path '${path}' has an empty field name`);
    if (step === '__proto__' || step.startsWith('$')) throw outsideManifest(`the path '${path}'`);
  }
  return all;
}
