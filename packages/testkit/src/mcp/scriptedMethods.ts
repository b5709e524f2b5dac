import type { IncomingHttpHeaders } from 'node:http';
import { scriptedError, type ScriptedCall, type ScriptedOptions } from './scriptedTypes.ts';

type Json = Readonly<Record<string, unknown>>;
type Method = (params: Json, call: ScriptedCall) => unknown;

export const MODERN_VERSION = '2026-07-28';
export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const NAME_PARAMS: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};
const CACHEABLE_METHODS = /^(server\/discover|.*\/list|resources\/read)$/;

/** The methods that every scripted server has; `options.methods` goes first. */
export function findMethod(options: ScriptedOptions, name: string, isModern: boolean): Method | undefined {
  const overrides = options.methods;
  if (overrides && Object.hasOwn(overrides, name)) return overrides[name];
  const builtIn: Record<string, Method> = {
    ...(isModern ? modernMethods(options) : legacyMethods(options)),
    'tools/list': ({ cursor }) => listTools(options, cursor),
    'tools/call': ({ name: tool, arguments: args = {} }, call) => {
      const found = options.tools?.find((each) => each.name === tool);
      if (!found) throw scriptedError(-32602, `Unknown tool: ${String(tool)}`);
      if (found.handler) return found.handler(args as Json, call);
      return { content: [{ type: 'text', text: JSON.stringify(args) }] };
    },
  };
  return Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
}

function modernMethods(options: ScriptedOptions): Record<string, Method> {
  const discovered = {
    supportedVersions: [MODERN_VERSION],
    ...declaredCapabilities(options),
    _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo(options) },
  };
  return { 'server/discover': () => discovered };
}

function legacyMethods(options: ScriptedOptions): Record<string, Method> {
  const initialized = {
    protocolVersion: options.protocolVersion ?? '2025-11-25',
    serverInfo: serverInfo(options),
    ...declaredCapabilities(options),
  };
  return { initialize: () => initialized, ping: () => ({}) };
}

function declaredCapabilities({ capabilities = { tools: {} }, instructions }: ScriptedOptions): Json {
  return { capabilities, ...(instructions !== undefined && { instructions }) };
}

function serverInfo(options: ScriptedOptions): Json {
  return options.serverInfo ?? { name: 'scripted', version: '1.0.0' };
}

function listTools({ tools = [], pageSize = tools.length }: ScriptedOptions, cursor: unknown): Json {
  const from = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isInteger(from) || from < 0) throw scriptedError(-32602, 'Unknown cursor');
  const next = from + pageSize;
  return {
    tools: tools
      .slice(from, next)
      .map(({ handler: _, inputSchema = { type: 'object' }, ...tool }) => ({ ...tool, inputSchema })),
    ...(next < tools.length && { nextCursor: String(next) }),
  };
}

/** A modern result says what kind it is and how long it may be kept. */
export function modernResult(method: string, result: Json): Json {
  return {
    resultType: 'complete',
    ...(CACHEABLE_METHODS.test(method) && { ttlMs: 0, cacheScope: 'private' }),
    ...result,
  };
}

/** What is wrong with the mirrored headers of a modern request, as SEP-2243 has it. */
export function headerMismatch(
  options: ScriptedOptions,
  method: string,
  params: Json,
  headers: IncomingHttpHeaders,
): string | undefined {
  const meta = params['_meta'] as Json | undefined;
  if (headers['mcp-protocol-version'] !== meta?.[VERSION_KEY]) return 'MCP-Protocol-Version';
  if (headers['mcp-method'] !== method) return 'Mcp-Method';
  const source = NAME_PARAMS[method];
  if (source !== undefined && decodeHeader(headers['mcp-name']) !== params[source]) return 'Mcp-Name';
  if (method !== 'tools/call') return undefined;
  const tool = options.tools?.find(({ name }) => name === params['name']);
  const properties = (tool?.inputSchema?.['properties'] ?? {}) as Record<string, Json>;
  const args = (params['arguments'] ?? {}) as Record<string, string | number | boolean | null>;
  for (const [property, schema] of Object.entries(properties)) {
    const header = schema['x-mcp-header'];
    const value = args[property];
    if (typeof header !== 'string' || value === undefined || value === null) continue;
    if (decodeHeader(headers[`mcp-param-${header.toLowerCase()}`]) !== String(value)) {
      return `Mcp-Param-${header}`;
    }
  }
  return undefined;
}

function decodeHeader(value: string | string[] | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}
