import type { LegacyClient, WireClient } from './mcpClient.ts';
import { modernRequest } from './mcpClient.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Hit {
  readonly name: string;
  readonly server: string;
  readonly description?: string;
  readonly inputSchema: Json;
  readonly shortened?: boolean;
}

export interface SearchResult {
  readonly result: Json;
  readonly names: readonly string[];
  readonly hits: readonly Hit[];
  readonly searched: number;
}

/** Sends a request as a client of either era does. */
export type Send = (
  method: string,
  params?: Json,
) => Promise<{ result?: Json; error?: { code: number; data?: Json } }>;

export const modernSend =
  (client: WireClient, capabilities: Json = {}): Send =>
  async (method, params = {}) =>
    (await modernRequest(client, method, params, { capabilities })).answer;

export const legacySend =
  (client: LegacyClient): Send =>
  async (method, params = {}) =>
    (await client.request(method, params)).answer;

export async function search(send: Send, query: string, more: Json = {}): Promise<SearchResult> {
  const { result = {} } = await send('tools/call', { name: 'search_tools', arguments: { query, ...more } });
  const { tools: hits, searched } = result['structuredContent'] as { tools: Hit[]; searched: number };
  return { result, hits, searched, names: hits.map(({ name }) => name) };
}

/** The parameters of a call through `call_tool`. */
export function through(name: string, args: Json = {}): Json {
  return { name: 'call_tool', arguments: { name, arguments: args } };
}
