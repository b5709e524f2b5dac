import { notInManifest, ServerError } from './serverError.ts';
import { isDoc, type Doc } from './values.ts';

/** The value at a dotted path through documents. Reaching through an array has rules of its own and is refused. */
export function getPath(doc: Doc, path: string): unknown {
  let value: unknown = doc;
  for (const step of splitPath(path)) {
    if (Array.isArray(value)) throw notInManifest(`the path '${path}' through an array`);
    if (!isDoc(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** `overScalars`: a pipeline's $set puts an object in the place of a scalar on the way; an update operator refuses. */
export function setPath(doc: Doc, path: string, value: unknown, overScalars = false): void {
  const [parent, last] = resolveParent(doc, path, overScalars ? 'replace' : 'create');
  if (parent) parent[last] = value;
}

export function unsetPath(doc: Doc, path: string): void {
  const [parent, last] = resolveParent(doc, path, 'look');
  if (parent) Reflect.deleteProperty(parent, last);
}

function resolveParent(doc: Doc, path: string, mode: 'look' | 'create' | 'replace'): [Doc | null, string] {
  const segments = splitPath(path);
  const last = segments.pop() as string;
  let parent = doc;
  for (const step of segments) {
    const next = Object.hasOwn(parent, step) ? parent[step] : undefined;
    if (isDoc(next)) parent = next;
    else if (Array.isArray(next)) throw notInManifest(`the path '${path}' through an array`);
    else if (mode === 'look') return [null, last];
    else if (next !== undefined && mode === 'create') {
      throw new ServerError(28, 'PathNotViable', `Cannot create field '${step}' in path '${path}'`);
    } else {
      const created: Doc = {};
      parent[step] = created;
      parent = created;
    }
  }
  return [parent, last];
}

function splitPath(path: string): string[] {
  const segments = path.split('.');
  for (const step of segments) {
    if (step === '')
      throw new ServerError(56, 'EmptyFieldName', `The path '${path}' has an empty field name`);
    if (step === '__proto__' || step.startsWith('$')) throw notInManifest(`the path '${path}'`);
  }
  return segments;
}
