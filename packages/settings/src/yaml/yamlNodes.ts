import { isAlias, isMap, isScalar, isSeq, type Document, type Node } from 'yaml';
import { createFinding, type Finding, type Path } from '@behalf/contracts';

/** Keys that would modify an object's prototype. */
const FORBIDDEN_KEYS = ['__proto__', 'constructor', 'prototype'];

/**
 * Limits far above any legitimate file. `lines` and `lexemes` are counted before anything is built: a small file
 * with many tiny tokens costs thousands of times its size. `nodes` counts after alias expansion. `key` limits keys,
 * because the path of each descendant repeats them.
 */
export const YAML_LIMITS = {
  bytes: 1024 * 1024,
  lines: 20_000,
  lexemes: 50_000,
  depth: 64,
  nodes: 100_000,
  aliases: 100,
  key: 1024,
};

/** The position of a key or list item, and the positions below it. */
export interface YamlLocation {
  readonly offset: number | undefined;
  readonly children: Map<string | number, YamlLocation>;
}

type ConvertedDocument =
  { value: unknown; location: YamlLocation } | { problem: Finding; offset: number | undefined };

/**
 * Converts the document to plain data. Replaces the library's conversion in order to reject duplicate keys in
 * linear time, keys that modify a prototype, merge keys, and excessive alias expansion.
 */
export function convertDocument(document: Document): ConvertedDocument {
  const root: YamlLocation = { offset: undefined, children: new Map() };
  const openNodes = new Set<Node>();
  let nodes = 0;
  let aliases = 0;

  function fail(path: Path, node: unknown, code: string, message: string, suggestion?: string): never {
    throw new RejectedYaml(createFinding(path, code, message, suggestion), readOffset(node));
  }

  function convertNode(node: unknown, path: Path, location: YamlLocation): unknown {
    nodes += 1;
    if (nodes > YAML_LIMITS.nodes)
      fail(
        path,
        node,
        'yaml_too_large',
        `the file has more than ${YAML_LIMITS.nodes} values after its aliases are expanded`,
      );
    if (path.length > YAML_LIMITS.depth)
      fail(path, node, 'yaml_too_deep', `is nested more than ${YAML_LIMITS.depth} levels deep`);
    if (node === null || node === undefined) return null;
    if (isAlias(node)) {
      aliases += 1;
      if (aliases > YAML_LIMITS.aliases)
        fail(path, node, 'yaml_aliases', `the file uses more than ${YAML_LIMITS.aliases} aliases`);
      const target = node.resolve(document);
      if (!target) return fail(path, node, 'yaml_alias', 'the alias has no anchor before it');
      if (openNodes.has(target))
        return fail(path, node, 'yaml_alias', 'the alias refers to a value that contains it');
      return convertNode(target, path, location);
    }
    if (isScalar(node)) {
      const { value } = node;
      if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
      if (typeof value === 'number' && Number.isFinite(value)) return value;
      return fail(path, node, 'yaml_value', 'has an unsupported type of value');
    }
    if (isSeq(node)) {
      openNodes.add(node);
      const list = node.items.map((item, index) => {
        const childLocation = addChildLocation(location, index, readOffset(item) ?? 0);
        return convertNode(item, [...path, index], childLocation);
      });
      openNodes.delete(node);
      return list;
    }
    if (!isMap(node)) return fail(path, node, 'yaml_value', 'has an unsupported type of value');
    openNodes.add(node);
    const mapping: Record<string, unknown> = {};
    for (const pair of node.items) {
      const key = readKey(pair.key, path);
      const keyPath = [...path, key];
      if (Object.hasOwn(mapping, key))
        fail(keyPath, pair.key, 'yaml_duplicate_key', 'the key occurs twice', 'remove one of them');
      mapping[key] = convertNode(
        pair.value,
        keyPath,
        addChildLocation(location, key, readOffset(pair.key) ?? 0),
      );
    }
    openNodes.delete(node);
    return mapping;
  }

  function readKey(node: unknown, path: Path): string {
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (typeof value !== 'string') return fail(path, node, 'yaml_key', 'a key must be text');
    if (value.length > YAML_LIMITS.key)
      return fail(path, node, 'yaml_key', `contains a key of more than ${YAML_LIMITS.key} characters`);
    if (FORBIDDEN_KEYS.includes(value)) fail([...path, value], node, 'yaml_key', 'this key is not allowed');
    if (value === '<<')
      fail(
        [...path, value],
        node,
        'yaml_merge_key',
        'merge keys are not supported',
        'write all keys, or alias a whole value',
      );
    return value;
  }

  try {
    return { value: convertNode(document.contents, [], root), location: root };
  } catch (error) {
    if (error instanceof RejectedYaml) return { problem: error.problem, offset: error.offset };
    throw error;
  }
}

function addChildLocation({ children }: YamlLocation, step: string | number, offset: number): YamlLocation {
  const location: YamlLocation = { offset, children: new Map() };
  children.set(step, location);
  return location;
}

class RejectedYaml extends Error {
  readonly problem: Finding;
  readonly offset: number | undefined;
  constructor(problem: Finding, offset: number | undefined) {
    super(problem.message);
    this.problem = problem;
    this.offset = offset;
  }
}

function readOffset(node: unknown): number | undefined {
  return (node as { range?: readonly number[] | null } | null | undefined)?.range?.[0];
}
