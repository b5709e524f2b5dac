import type { HeaderValues, JsonObject } from '../upstream/upstream.ts';

/** The headers that repeat some arguments of a call, so that what stands between can route by them. */
export interface Mirror {
  (args: JsonObject): HeaderValues;
  /** All that the tool knows, whatever the arguments. */
  readonly headers: ReadonlySet<string>;
  /** Those whose argument is not there, so that there is nothing they could repeat. */
  absent(args: JsonObject): readonly string[];
}

export type MirrorReading =
  | { readonly ok: true; readonly mirror: Mirror | undefined }
  | { readonly ok: false; readonly reason: string };

const ANNOTATION = 'x-mcp-header';
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const TYPES = new Set(['string', 'integer', 'boolean']);
const DEEPEST = 64;

interface Declared {
  readonly path: readonly string[];
  readonly header: string;
  readonly type: string;
}

/**
 * What a schema of the modern era says about headers (2026-07-28, custom headers from tool parameters). An annotation
 * counts only where a chain of `properties` leads to it; anywhere else it makes the whole tool invalid, because two
 * readers could mirror two different values.
 */
export function readMirror(inputSchema: JsonObject): MirrorReading {
  const declared: Declared[] = [];
  const names = new Set<string>();

  function visit(
    schema: unknown,
    path: readonly string[],
    reachable: boolean,
    depth: number,
  ): string | undefined {
    if (typeof schema !== 'object' || schema === null) return undefined;
    if (depth > DEEPEST) return `${at(path)}: nested too deep`;
    for (const [keyword, value] of Object.entries(schema)) {
      let fault: string | undefined;
      if (keyword === ANNOTATION && !Array.isArray(schema))
        fault = declare(schema as JsonObject, path, reachable);
      else if (keyword === 'properties' && isMap(value)) fault = visitMap(value, path, reachable, depth);
      // Whatever else holds schemas, known or not. Values are not schemas.
      else if (!values.has(keyword)) fault = visit(value, [...path, `<${keyword}>`], false, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  function visitMap(
    map: JsonObject,
    path: readonly string[],
    reachable: boolean,
    depth: number,
  ): string | undefined {
    for (const [name, inner] of Object.entries(map)) {
      const fault = visit(inner, [...path, name], reachable, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  function declare(schema: JsonObject, path: readonly string[], reachable: boolean): string | undefined {
    if (!reachable || path.length === 0) return `${at(path)}: not reachable by properties alone`;
    const { [ANNOTATION]: header, type } = schema;
    if (typeof header !== 'string' || !TOKEN.test(header)) return `${at(path)}: not a header name`;
    if (typeof type !== 'string' || !TYPES.has(type))
      return `${at(path)}: neither string, integer nor boolean`;
    const lower = header.toLowerCase();
    if (names.has(lower)) return `${at(path)}: the header is named twice`;
    names.add(lower);
    declared.push({ path, header: `mcp-param-${lower}`, type });
    return undefined;
  }

  const reason = visit(inputSchema, [], true, 1);
  if (reason !== undefined) return { ok: false, reason };
  return { ok: true, mirror: declared.length === 0 ? undefined : createMirror(declared) };
}

/** Keywords whose value is data: an example may well contain the word. */
const values: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

function createMirror(declared: readonly Declared[]): Mirror {
  return Object.assign((args: JsonObject) => mirrorOf(declared, args), {
    headers: new Set(declared.map(({ header }) => header)),
    absent: (args: JsonObject) =>
      declared.flatMap(({ path, header }) => ((valueAt(args, path) ?? null) === null ? [header] : [])),
  });
}

function mirrorOf(declared: readonly Declared[], args: JsonObject): HeaderValues {
  const headers: Record<string, string> = {};
  for (const { path, header, type } of declared) {
    const text = textOf(valueAt(args, path), type);
    if (text !== undefined) headers[header] = encode(text);
  }
  return headers;
}

/** Undefined, and so no header, for what is absent, null or of another type than declared. */
function textOf(value: unknown, type: string): string | undefined {
  if (type === 'string') return typeof value === 'string' ? value : undefined;
  if (type === 'integer') return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === 'boolean' ? String(value) : undefined;
}

/** What is not plainly printable travels as base64: a line break in an argument must not end the header. */
function encode(text: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function valueAt(args: JsonObject, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}

function at(path: readonly string[]): string {
  return path.length === 0 ? 'the schema itself' : path.join('.').slice(0, 200);
}

function isMap(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
