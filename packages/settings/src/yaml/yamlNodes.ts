import { isAlias, isMap, isScalar, isSeq, type Document, type Node } from 'yaml';
import { finding, type Finding, type Path } from '@behalf/contracts';

/** Keys that mean something to the object they land in instead of being data. */
const FORBIDDEN_KEYS = ['__proto__', 'constructor', 'prototype'];

/**
 * Limits that no honest file comes near. `lines` and `lexemes` are counted before anything is built of them: a small
 * file of many tiny things costs thousands of times its size. `nodes` holds for the file as expanded, so that aliases
 * cannot multiply it, and `key` because the path of everything below a key repeats it.
 */
export const limits = {
  bytes: 1024 * 1024,
  lines: 20_000,
  lexemes: 50_000,
  depth: 64,
  nodes: 100_000,
  aliases: 100,
  key: 1024,
};

/** Where a key, or a value of a list, stands in the text, and what stands below it. */
export interface Place {
  readonly offset: number | undefined;
  readonly below: Map<string | number, Place>;
}

export type Plain = { value: unknown; place: Place } | { problem: Finding; offset: number | undefined };

/**
 * The document as plain data. Written out rather than left to the library because of what it refuses: duplicate keys in
 * linear time, keys that touch a prototype, merge keys, and a document that grows when its aliases are followed.
 */
export function toPlain(document: Document): Plain {
  const root: Place = { offset: undefined, below: new Map() };
  const open = new Set<Node>();
  let nodes = 0;
  let aliases = 0;

  function fail(path: Path, node: unknown, code: string, message: string, suggestion?: string): never {
    throw new Refused(finding(path, code, message, suggestion), offsetOf(node));
  }

  function walk(node: unknown, path: Path, place: Place): unknown {
    nodes += 1;
    if (nodes > limits.nodes)
      fail(
        path,
        node,
        'yaml_too_large',
        `the file has more than ${limits.nodes} values once its aliases are followed`,
      );
    if (path.length > limits.depth)
      fail(path, node, 'yaml_too_deep', `is nested more than ${limits.depth} levels deep`);
    if (node === null || node === undefined) return null;
    if (isAlias(node)) {
      aliases += 1;
      if (aliases > limits.aliases)
        fail(path, node, 'yaml_aliases', `the file uses more than ${limits.aliases} aliases`);
      const target = node.resolve(document);
      if (!target) return fail(path, node, 'yaml_alias', 'the alias has no anchor before it');
      if (open.has(target))
        return fail(path, node, 'yaml_alias', 'the alias refers to a value that contains it');
      return walk(target, path, place);
    }
    if (isScalar(node)) {
      const { value } = node;
      if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      return fail(path, node, 'yaml_value', 'is a kind of value this file cannot hold');
    }
    if (isSeq(node)) {
      open.add(node);
      const list = node.items.map((item, index) => {
        const at = placeBelow(place, index, offsetOf(item) ?? 0);
        return walk(item, [...path, index], at);
      });
      open.delete(node);
      return list;
    }
    if (!isMap(node)) return fail(path, node, 'yaml_value', 'is a kind of value this file cannot hold');
    open.add(node);
    const mapping: Record<string, unknown> = {};
    for (const pair of node.items) {
      const key = keyOf(pair.key, path);
      const at = [...path, key];
      if (Object.hasOwn(mapping, key))
        fail(at, pair.key, 'yaml_duplicate_key', 'the key is given twice', 'remove one of them');
      mapping[key] = walk(pair.value, at, placeBelow(place, key, offsetOf(pair.key) ?? 0));
    }
    open.delete(node);
    return mapping;
  }

  function keyOf(node: unknown, path: Path): string {
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (typeof value !== 'string') return fail(path, node, 'yaml_key', 'a key must be text');
    if (value.length > limits.key)
      return fail(path, node, 'yaml_key', `holds a key of more than ${limits.key} characters`);
    if (FORBIDDEN_KEYS.includes(value)) fail([...path, value], node, 'yaml_key', 'this key is not allowed');
    if (value === '<<')
      fail(
        [...path, value],
        node,
        'yaml_merge_key',
        'merge keys are not supported',
        'write the keys out, or alias a whole value',
      );
    return value;
  }

  try {
    return { value: walk(document.contents, [], root), place: root };
  } catch (error) {
    if (error instanceof Refused) return { problem: error.problem, offset: error.offset };
    throw error;
  }
}

function placeBelow({ below }: Place, step: string | number, offset: number): Place {
  const place: Place = { offset, below: new Map() };
  below.set(step, place);
  return place;
}

class Refused extends Error {
  readonly problem: Finding;
  readonly offset: number | undefined;
  constructor(problem: Finding, offset: number | undefined) {
    super(problem.message);
    this.problem = problem;
    this.offset = offset;
  }
}

function offsetOf(node: unknown): number | undefined {
  return (node as { range?: readonly number[] | null } | null | undefined)?.range?.[0];
}
