import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  type ScriptedCall,
  type ScriptedOptions,
  type ScriptedTool,
  scriptedError,
} from './scriptedExchange.ts';

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

/** The built-in methods. `options.methods` takes precedence. */
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

/** Adds the result type and cache lifetime of a modern result. */
export function modernResult(method: string, result: Json): Json {
  return {
    resultType: 'complete',
    ...(CACHEABLE_METHODS.test(method) && { ttlMs: 0, cacheScope: 'private' }),
    ...result,
  };
}

/** The mismatch between headers and body of a modern request (SEP-2243); undefined if they agree. */
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

type JsonObject = Readonly<Record<string, unknown>>;

const TASKS = 'io.modelcontextprotocol/tasks';
/** The capability that client and server declare. */
export const tasksExtension = { extensions: { [TASKS]: {} } };
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** A modern scripted server with tasks, and access to them for a test. */
export interface ScriptedTasks extends Pick<ScriptedOptions, 'capabilities' | 'methods'> {
  readonly era: 'modern';
  readonly tools: readonly ScriptedTool[];
  /** By the server's task ID. The next `tasks/get` returns the stored value. */
  readonly tasks: Map<string, JsonObject>;
  /** Received responses, in order. */
  readonly responses: JsonObject[];
}

/** Whether the client declared the extension with this request. */
export function declaresTasks({ params }: Pick<ScriptedCall, 'params'>): boolean {
  const meta = params['_meta'] as JsonObject | undefined;
  const declared = (meta?.[CAPABILITIES] as JsonObject | undefined)?.['extensions'] as JsonObject | undefined;
  return declared?.[TASKS] !== undefined;
}

/** A server whose tool `slow` becomes a task if the client supports tasks. Otherwise it responds directly. */
export function scriptedTasks(): ScriptedTasks {
  const tasks = new Map<string, JsonObject>();
  const responses: JsonObject[] = [];
  const createdAt = new Date(0).toISOString();

  function createTask(): JsonObject {
    const taskId = randomUUID();
    const task = {
      taskId,
      status: 'working',
      createdAt: createdAt,
      lastUpdatedAt: createdAt,
      ttlMs: 60_000,
      pollIntervalMs: 5,
    };
    tasks.set(taskId, task);
    return { ...task, resultType: 'task' };
  }

  function withTask(method: (task: JsonObject, params: JsonObject) => JsonObject) {
    return (params: JsonObject, call: ScriptedCall) => {
      if (!declaresTasks(call))
        throw scriptedError(-32021, 'Undeclared', { requiredCapabilities: tasksExtension }, 400);
      const task = tasks.get(String(params['taskId']));
      if (!task) throw scriptedError(-32602, 'Failed to retrieve task: Task not found');
      return method(task, params);
    };
  }

  return {
    era: 'modern',
    capabilities: { tools: {}, ...tasksExtension },
    tasks,
    responses,
    tools: [
      {
        name: 'slow',
        handler: (_args, call) =>
          declaresTasks(call) ? createTask() : { content: [{ type: 'text', text: 'at once' }] },
      },
      { name: 'echo' },
    ],
    methods: {
      'tasks/get': withTask((task) => task),
      'tasks/update': withTask((task, { taskId, inputResponses }) => {
        responses.push(inputResponses as JsonObject);
        const { inputRequests: _, ...rest } = task;
        tasks.set(String(taskId), { ...rest, status: 'working' });
        return {};
      }),
      'tasks/cancel': withTask((task, { taskId }) => {
        tasks.set(String(taskId), { ...task, status: 'cancelled' });
        return {};
      }),
    },
  };
}
