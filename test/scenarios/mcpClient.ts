import { expect } from '@jest/globals';
import type { TestUser } from './users.ts';

type Json = Readonly<Record<string, unknown>>;

/** A message as it came: a result, an error, or what a server says in between. */
export interface WireMessage {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** A client that speaks MCP by hand: what is tested here is the wire. */
export interface WireClient {
  readonly url: string;
  readonly headers: Record<string, string>;
  post(body: unknown, headers?: Record<string, string>, init?: RequestInit): Promise<Response>;
  send(method: string, headers?: Record<string, string>, init?: RequestInit): Promise<Response>;
}

/** A key of this person, and a client that presents it. */
export async function createWireClient(user: TestUser, base: string, path = '/mcp'): Promise<WireClient> {
  const response = await user.post('/api/user/keys', { name: 'client', scopes: ['mcp'] });
  expect(response.status).toBe(201);
  const { key } = (await response.json()) as { key: string };
  return createKeyClient(key, base, path);
}

export function createKeyClient(key: string, base: string, path = '/mcp'): WireClient {
  const url = new URL(path, base).href;
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return {
    url,
    headers,
    post: (body, extraHeaders = {}, init = {}) =>
      fetch(url, {
        ...{ method: 'POST', headers: { ...headers, ...extraHeaders } },
        ...{ body: typeof body === 'string' ? body : JSON.stringify(body), ...init },
      }),
    send: (method, extraHeaders = {}, init = {}) =>
      fetch(url, { method, headers: { ...headers, ...extraHeaders }, ...init }),
  };
}

/** A session of the legacy era. */
export interface LegacyClient extends WireClient {
  readonly session: string;
  /** What the server said when it began. */
  readonly initializeResult: Record<string, unknown>;
  /** Sends a request; gives the answer and what came before it. */
  request(method: string, params?: Json, init?: RequestInit): Promise<WireResponse>;
  notify(method: string, params?: Json): Promise<Response>;
}

export interface WireResponse {
  readonly status: number;
  readonly message: WireMessage;
  readonly earlierMessages: readonly WireMessage[];
}

export async function createLegacyClient(
  client: WireClient,
  { version = '2025-11-25', capabilities = {} }: { version?: string; capabilities?: Json } = {},
): Promise<LegacyClient> {
  let lastId = 0;
  const params = { protocolVersion: version, capabilities, clientInfo: { name: 'wire', version: '1' } };
  const response = await client.post({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  expect(response.status).toBe(200);
  const session = response.headers.get('mcp-session-id') ?? '';
  expect(session).toMatch(/^[\x21-\x7e]+$/);
  const { result = {} } = (await response.json()) as WireMessage;
  const sessionHeaders = {
    'mcp-session-id': session,
    'mcp-protocol-version': String(result['protocolVersion']),
  };
  const post: WireClient['post'] = (body, extraHeaders, init) =>
    client.post(body, { ...sessionHeaders, ...extraHeaders }, init);
  const legacy: LegacyClient = {
    ...client,
    session,
    post,
    send: (method, extraHeaders, init) => client.send(method, { ...sessionHeaders, ...extraHeaders }, init),
    initializeResult: result,
    async request(method, requestParams = {}, init) {
      lastId += 1;
      const id = lastId;
      return readAnswer(await post({ jsonrpc: '2.0', id, method, params: requestParams }, {}, init), id);
    },
    notify: (method, requestParams = {}) => post({ jsonrpc: '2.0', method, params: requestParams }),
  };
  expect((await legacy.notify('notifications/initialized')).status).toBe(202);
  return legacy;
}

/** The same client at another replica. */
export function atReplica(client: LegacyClient, base: string): LegacyClient {
  const url = new URL(new URL(client.url).pathname, base).href;
  const headers = {
    ...client.headers,
    'mcp-session-id': client.session,
    'mcp-protocol-version': String(client.initializeResult['protocolVersion']),
  };
  let lastId = 1_000;
  const post: WireClient['post'] = (body, extraHeaders = {}, init = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, ...extraHeaders },
      body: JSON.stringify(body),
      ...init,
    });
  return {
    ...client,
    url,
    post,
    send: (method, extraHeaders = {}, init = {}) =>
      fetch(url, { method, headers: { ...headers, ...extraHeaders }, ...init }),
    async request(method, params = {}, init) {
      lastId += 1;
      const id = lastId;
      return readAnswer(await post({ jsonrpc: '2.0', id, method, params }, {}, init), id);
    },
    notify: (method, params = {}) => post({ jsonrpc: '2.0', method, params }),
  };
}

const PROTOCOL_VERSION = '2026-07-28';
const NAME_PARAMS: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};
export const META_PREFIX = 'io.modelcontextprotocol/';

/** The `_meta` of a modern request. */
export function createModernMeta(capabilities: Json = {}, extraHeaders: Json = {}): Json {
  return {
    [`${META_PREFIX}protocolVersion`]: PROTOCOL_VERSION,
    [`${META_PREFIX}clientCapabilities`]: capabilities,
    [`${META_PREFIX}clientInfo`]: { name: 'wire', version: '1' },
    ...extraHeaders,
  };
}

let lastModernId = 0;

/** One request of the modern era, with the headers it needs. */
export async function sendModern(
  client: WireClient,
  method: string,
  params: Json = {},
  {
    capabilities = {},
    meta = {},
    headers = {},
    init = {},
  }: { capabilities?: Json; meta?: Json; headers?: Record<string, string>; init?: RequestInit } = {},
): Promise<WireResponse> {
  lastModernId += 1;
  const id = `m${lastModernId}`;
  const body = {
    jsonrpc: '2.0',
    id,
    method,
    params: { ...params, _meta: createModernMeta(capabilities, meta) },
  };
  return readAnswer(
    await client.post(body, { ...createModernHeaders(method, params), ...headers }, init),
    id,
  );
}

export function createModernHeaders(method: string, params: Json): Record<string, string> {
  const name = params[NAME_PARAMS[method] ?? ''];
  return {
    'mcp-protocol-version': PROTOCOL_VERSION,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  };
}

/** The answer to `id` of a response, and what came before it. */
export async function readAnswer(response: Response, id: string | number): Promise<WireResponse> {
  const messages = await readWireMessages(response);
  const index = messages.findIndex((message) => message.id === id && message.method === undefined);
  const answer = messages[index] ?? messages.at(-1) ?? {};
  return { status: response.status, message: answer, earlierMessages: messages.slice(0, Math.max(0, index)) };
}

export async function readWireMessages(response: Response): Promise<WireMessage[]> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return text === '' ? [] : [JSON.parse(text) as WireMessage];
  return text
    .split('\n\n')
    .flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: ') && line.length > 6))
    .map((line) => JSON.parse(line.slice(6)) as WireMessage);
}
