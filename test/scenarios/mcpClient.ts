import { expect } from '@jest/globals';
import type { Person } from './people.ts';

type Json = Readonly<Record<string, unknown>>;

/** A message as it came: a result, an error, or what a server says in between. */
export interface Message {
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
export async function wireClient(person: Person, base: string, path = '/mcp'): Promise<WireClient> {
  const made = await person.post('/api/user/keys', { name: 'client', scopes: ['mcp'] });
  expect(made.status).toBe(201);
  const { key } = (await made.json()) as { key: string };
  return clientWith(key, base, path);
}

export function clientWith(key: string, base: string, path = '/mcp'): WireClient {
  const url = new URL(path, base).href;
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return {
    url,
    headers,
    post: (body, more = {}, init = {}) =>
      fetch(url, {
        ...{ method: 'POST', headers: { ...headers, ...more } },
        ...{ body: typeof body === 'string' ? body : JSON.stringify(body), ...init },
      }),
    send: (method, more = {}, init = {}) => fetch(url, { method, headers: { ...headers, ...more }, ...init }),
  };
}

/** A session of the legacy era. */
export interface LegacyClient extends WireClient {
  readonly session: string;
  /** What the server said when it began. */
  readonly opened: Record<string, unknown>;
  /** Sends a request; gives the answer and what came before it. */
  request(method: string, params?: Json, init?: RequestInit): Promise<Answered>;
  notify(method: string, params?: Json): Promise<Response>;
}

export interface Answered {
  readonly status: number;
  readonly answer: Message;
  readonly before: readonly Message[];
}

export async function legacyClient(
  client: WireClient,
  { version = '2025-11-25', capabilities = {} }: { version?: string; capabilities?: Json } = {},
): Promise<LegacyClient> {
  let lastId = 0;
  const params = { protocolVersion: version, capabilities, clientInfo: { name: 'wire', version: '1' } };
  const begun = await client.post({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  expect(begun.status).toBe(200);
  const session = begun.headers.get('mcp-session-id') ?? '';
  expect(session).toMatch(/^[\x21-\x7e]+$/);
  const { result = {} } = (await begun.json()) as Message;
  const own = { 'mcp-session-id': session, 'mcp-protocol-version': String(result['protocolVersion']) };
  const post: WireClient['post'] = (body, more, init) => client.post(body, { ...own, ...more }, init);
  const legacy: LegacyClient = {
    ...client,
    session,
    post,
    send: (method, more, init) => client.send(method, { ...own, ...more }, init),
    opened: result,
    async request(method, asked = {}, init) {
      lastId += 1;
      const id = lastId;
      return answered(await post({ jsonrpc: '2.0', id, method, params: asked }, {}, init), id);
    },
    notify: (method, asked = {}) => post({ jsonrpc: '2.0', method, params: asked }),
  };
  expect((await legacy.notify('notifications/initialized')).status).toBe(202);
  return legacy;
}

/** The same client at another replica. */
export function elsewhere(client: LegacyClient, base: string): LegacyClient {
  const url = new URL(new URL(client.url).pathname, base).href;
  const headers = {
    ...client.headers,
    'mcp-session-id': client.session,
    'mcp-protocol-version': String(client.opened['protocolVersion']),
  };
  let lastId = 1_000;
  const post: WireClient['post'] = (body, more = {}, init = {}) =>
    fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body), ...init });
  return {
    ...client,
    url,
    post,
    send: (method, more = {}, init = {}) => fetch(url, { method, headers: { ...headers, ...more }, ...init }),
    async request(method, params = {}, init) {
      lastId += 1;
      const id = lastId;
      return answered(await post({ jsonrpc: '2.0', id, method, params }, {}, init), id);
    },
    notify: (method, params = {}) => post({ jsonrpc: '2.0', method, params }),
  };
}

const VERSION = '2026-07-28';
const NAMED: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};
export const META = 'io.modelcontextprotocol/';

/** The `_meta` of a modern request. */
export function modernMeta(capabilities: Json = {}, more: Json = {}): Json {
  return {
    [`${META}protocolVersion`]: VERSION,
    [`${META}clientCapabilities`]: capabilities,
    [`${META}clientInfo`]: { name: 'wire', version: '1' },
    ...more,
  };
}

let modernIds = 0;

/** One request of the modern era, with the headers it needs. */
export async function modernRequest(
  client: WireClient,
  method: string,
  params: Json = {},
  {
    capabilities = {},
    meta = {},
    headers = {},
    init = {},
  }: { capabilities?: Json; meta?: Json; headers?: Record<string, string>; init?: RequestInit } = {},
): Promise<Answered> {
  modernIds += 1;
  const id = `m${modernIds}`;
  const body = { jsonrpc: '2.0', id, method, params: { ...params, _meta: modernMeta(capabilities, meta) } };
  return answered(await client.post(body, { ...modernHeaders(method, params), ...headers }, init), id);
}

export function modernHeaders(method: string, params: Json): Record<string, string> {
  const name = params[NAMED[method] ?? ''];
  return {
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  };
}

/** The answer to `id` of a response, and what came before it. */
export async function answered(response: Response, id: string | number): Promise<Answered> {
  const messages = await readMessages(response);
  const index = messages.findIndex((message) => message.id === id && message.method === undefined);
  const answer = messages[index] ?? messages.at(-1) ?? {};
  return { status: response.status, answer, before: messages.slice(0, Math.max(0, index)) };
}

export async function readMessages(response: Response): Promise<Message[]> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return text === '' ? [] : [JSON.parse(text) as Message];
  return text
    .split('\n\n')
    .flatMap((event) => event.split('\n').filter((line) => line.startsWith('data: ') && line.length > 6))
    .map((line) => JSON.parse(line.slice(6)) as Message);
}
