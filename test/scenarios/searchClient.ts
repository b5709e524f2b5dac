import type { LegacyClient, WireClient } from './mcpClient.ts';
import { sendModern } from './mcpClient.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface SearchHit {
  readonly name: string;
  readonly server: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly shortened?: boolean;
}

export interface SearchResult {
  readonly result: JsonObject;
  readonly names: readonly string[];
  readonly hits: readonly SearchHit[];
  readonly searched: number;
}

/** Sends a request as a client of either era does. */
export type SendMcp = (
  method: string,
  params?: JsonObject,
) => Promise<{ result?: JsonObject; error?: { code: number; data?: JsonObject } }>;

export const createModernSend =
  (client: WireClient, capabilities: JsonObject = {}): SendMcp =>
  async (method, params = {}) =>
    (await sendModern(client, method, params, { capabilities })).message;

export const createLegacySend =
  (client: LegacyClient): SendMcp =>
  async (method, params = {}) =>
    (await client.request(method, params)).message;

export async function searchTools(
  send: SendMcp,
  query: string,
  extraArgs: JsonObject = {},
): Promise<SearchResult> {
  const { result = {} } = await send('tools/call', {
    name: 'search_tools',
    arguments: { query, ...extraArgs },
  });
  const { tools: hits, searched } = result['structuredContent'] as { tools: SearchHit[]; searched: number };
  return { result, hits, searched, names: hits.map(({ name }) => name) };
}

/** The parameters of a call through `call_tool`. */
export function callThroughSearch(name: string, args: JsonObject = {}): JsonObject {
  return { name: 'call_tool', arguments: { name, arguments: args } };
}
