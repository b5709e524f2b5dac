import { isObject } from '@behalf/kernel';
import type { HeaderValues, JsonObject } from '../upstream/upstream.ts';

/** Writes the headers that repeat arguments of a call, so that intermediaries can route by them. */
export interface Mirror {
  (args: JsonObject): HeaderValues;
  /** The names of all headers that the tool declares. */
  readonly headers: ReadonlySet<string>;
  /** The headers whose arguments are absent from this call. */
  listAbsent(args: JsonObject): readonly string[];
}

type MirrorResult =
  | { readonly ok: true; readonly mirror: Mirror | undefined }
  | { readonly ok: false; readonly reason: string };

const ANNOTATION = 'x-mcp-header';
/** RFC 9110, section 5.6.2. */
const HEADER_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
const MIRRORED_TYPES = new Set(['string', 'integer', 'boolean']);
const MAX_DEPTH = 64;

interface HeaderDeclaration {
  readonly path: readonly string[];
  readonly header: string;
  readonly type: string;
}

/**
 * Reads the header annotations of an input schema (MCP 2026-07-28, custom headers from tool parameters). An annotation is valid
 * only if a chain of `properties` leads to it. Anywhere else it makes the tool invalid, because two implementations could
 * mirror different values.
 */
export function readMirror(inputSchema: JsonObject): MirrorResult {
  const declarations: HeaderDeclaration[] = [];
  const names = new Set<string>();

  function visit(
    schema: unknown,
    path: readonly string[],
    reachable: boolean,
    depth: number,
  ): string | undefined {
    if (typeof schema !== 'object' || schema === null) return undefined;
    if (depth > MAX_DEPTH) return `${formatPath(path)}: nested too deep`;
    for (const [keyword, value] of Object.entries(schema)) {
      let problem: string | undefined;
      if (keyword === ANNOTATION && !Array.isArray(schema))
        problem = addDeclaration(schema as JsonObject, path, reachable);
      else if (keyword === 'properties' && isObject(value)) problem = visitMap(value, path, reachable, depth);
      // Any other keyword can contain schemas, known or not. Data keywords cannot.
      else if (!dataKeywords.has(keyword))
        problem = visit(value, [...path, `<${keyword}>`], false, depth + 1);
      if (problem !== undefined) return problem;
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
      const problem = visit(inner, [...path, name], reachable, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  function addDeclaration(
    schema: JsonObject,
    path: readonly string[],
    reachable: boolean,
  ): string | undefined {
    if (!reachable || path.length === 0) return `${formatPath(path)}: not reachable by properties alone`;
    const { [ANNOTATION]: header, type } = schema;
    if (typeof header !== 'string' || !HEADER_TOKEN.test(header))
      return `${formatPath(path)}: not a header name`;
    if (typeof type !== 'string' || !MIRRORED_TYPES.has(type))
      return `${formatPath(path)}: neither string, integer nor boolean`;
    const lower = header.toLowerCase();
    if (names.has(lower)) return `${formatPath(path)}: the header is named twice`;
    names.add(lower);
    declarations.push({ path, header: `mcp-param-${lower}`, type });
    return undefined;
  }

  const reason = visit(inputSchema, [], true, 1);
  if (reason !== undefined) return { ok: false, reason };
  return { ok: true, mirror: declarations.length === 0 ? undefined : createMirror(declarations) };
}

/** Keywords whose value is data, not a schema. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

function createMirror(declarations: readonly HeaderDeclaration[]): Mirror {
  return Object.assign((args: JsonObject) => buildHeaders(declarations, args), {
    headers: new Set(declarations.map(({ header }) => header)),
    listAbsent: (args: JsonObject) =>
      declarations.flatMap(({ path, header }) => ((valueAt(args, path) ?? null) === null ? [header] : [])),
  });
}

function buildHeaders(declarations: readonly HeaderDeclaration[], args: JsonObject): HeaderValues {
  const headers: Record<string, string> = {};
  for (const { path, header, type } of declarations) {
    const text = formatArgument(valueAt(args, path), type);
    if (text !== undefined) headers[header] = encodeHeaderValue(text);
  }
  return headers;
}

/** Undefined (no header) if the argument is absent, null or not of the declared type. */
function formatArgument(value: unknown, type: string): string | undefined {
  if (type === 'string') return typeof value === 'string' ? value : undefined;
  if (type === 'integer') return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === 'boolean' ? String(value) : undefined;
}

/** Encodes other than printable ASCII as base64. Prevents header injection by line breaks in arguments. */
function encodeHeaderValue(text: string): string {
  const isPrintable =
    /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPrintable ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function valueAt(args: JsonObject, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}

function formatPath(path: readonly string[]): string {
  return path.length === 0 ? 'the schema itself' : path.join('.').slice(0, 200);
}
