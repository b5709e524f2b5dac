import type { CallBody } from './users.ts';

/** A program that shows a token, and no cookie unless it is told to. */
export interface TokenCaller {
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  send(method: string, path: string, body?: unknown): Promise<Response>;
  call(server: string, tool: string, args?: object): Promise<{ status: number; body: CallBody }>;
}

export function createTokenCaller(url: string, token: string): TokenCaller {
  const authorization = `Bearer ${token}`;
  const send: TokenCaller['send'] = (method, path, body) =>
    fetch(new URL(path, url), {
      method,
      redirect: 'manual',
      headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
  return {
    get: (path, headers = {}) =>
      fetch(new URL(path, url), { headers: { authorization, ...headers }, redirect: 'manual' }),
    send,
    async call(server, tool, args = {}) {
      const response = await send('POST', toolCallPath(server, tool), { arguments: args });
      return { status: response.status, body: (await response.json()) as CallBody };
    },
  };
}

export function toolCallPath(server: string, tool: string): string {
  return `/api/mcp/servers/${encodeURIComponent(server)}/tools/${encodeURIComponent(tool)}/call`;
}
