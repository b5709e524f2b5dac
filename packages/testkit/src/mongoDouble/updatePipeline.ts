import { evaluate, prepareExpression } from './expressions.ts';
import { manifest } from './manifest.ts';
import { setPath, unsetPath } from './paths.ts';
import { failedToParse, notInManifest, ServerError } from './serverError.ts';
import { isDoc, type Doc } from './values.ts';

export type Stage = (doc: Doc) => Doc;

export function compileUpdatePipeline(pipeline: readonly unknown[], now: Date): Stage[] {
  return pipeline.map((stage) => {
    const [name, spec] = parseStage(stage);
    if (!(manifest.updateStages as readonly string[]).includes(name)) {
      throw notInManifest(`the update stage ${name}`);
    }
    return compileStage(name, spec, now);
  });
}

export function parseStage(stage: unknown): [string, unknown] {
  const entries = isDoc(stage) ? Object.entries(stage) : [];
  const only = entries[0];
  if (entries.length !== 1 || only === undefined) {
    throw new ServerError(
      40323,
      'Location40323',
      'A pipeline stage specification must contain exactly one field',
    );
  }
  return only;
}

/** The stages that look at one document at a time; `aggregate` knows some of them too. */
export function compileStage(name: string, spec: unknown, now: Date): Stage {
  if (name === '$set' || name === '$addFields') return setStage(spec, now);
  if (name === '$unset') return unsetStage(spec);
  const prepared = prepareExpression(spec, now);
  return (doc) => {
    const root = evaluate(doc, prepared);
    if (!isDoc(root))
      throw new ServerError(40228, 'Location40228', '$replaceWith must evaluate to an object');
    return '_id' in root || !('_id' in doc)
      ? copyNestedDocuments(root)
      : { _id: doc['_id'], ...copyNestedDocuments(root) };
  };
}

export function applyStages(doc: Doc, stages: readonly Stage[]): Doc {
  return stages.reduce((current, stage) => stage(current), doc);
}

/** Every field of one stage sees the document as it was before the stage. A nested object sets its fields one by one. */
function setStage(spec: unknown, now: Date): Stage {
  if (!isDoc(spec)) throw failedToParse('$set specification stage must be an object');
  const fields = flatten(spec).map(([path, expr]) => [path, prepareExpression(expr, now)] as const);
  return (doc) => {
    const values = fields.map(([path, prepared]) => [path, evaluate(doc, prepared)] as const);
    const after = copyNestedDocuments(doc);
    for (const [path, value] of values) {
      if (value === undefined) unsetPath(after, path);
      else setPath(after, path, value, true);
    }
    return after;
  };
}

function flatten(spec: Doc, prefix = ''): [string, unknown][] {
  return Object.entries(spec).flatMap(([field, expr]): [string, unknown][] => {
    const path = `${prefix}${field}`;
    const nested = isDoc(expr) && !Object.keys(expr).some((key) => key.startsWith('$'));
    if (nested && Object.keys(expr).length === 0)
      throw notInManifest('an empty object in $set; use $literal');
    return nested ? flatten(expr, `${path}.`) : [[path, expr]];
  });
}

function unsetStage(spec: unknown): Stage {
  const paths = Array.isArray(spec) ? spec : [spec];
  if (!paths.every((path): path is string => typeof path === 'string')) {
    throw failedToParse('$unset specification must be a string or an array of strings');
  }
  return (doc) => {
    const after = copyNestedDocuments(doc);
    for (const path of paths) unsetPath(after, path);
    return after;
  };
}

function copyNestedDocuments(doc: Doc): Doc {
  return Object.fromEntries(
    Object.entries(doc).map(([key, value]) => [key, isDoc(value) ? copyNestedDocuments(value) : value]),
  );
}
