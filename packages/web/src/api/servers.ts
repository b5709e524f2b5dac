import type {
  AuthValuesView,
  ConnectionStatusesView,
  ConnectionStatusView,
  CreatedServerView,
  NamedServerView,
  ReinitializeView,
  ServerCheckView,
  ServerStatus,
  ServersView,
  ServerToolsView,
  ServerView,
  ToolsView,
} from '@behalf/contracts';
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { ApiError } from './apiError.ts';
import { request, segment, send } from './request.ts';

/** How soon a change of a connection shows, and one of a definition or of who may see it. */
const STATUS_EVERY_MS = 5_000;
const SERVERS_EVERY_MS = 15_000;

/** Everything below is about servers, and is read anew together. */
const ALL = 'servers';
export const serverKey = (name: string) => [ALL, 'one', name] as const;
const serverPath = (name: string) => `/api/mcp/servers/${segment(name)}`;

export const serversQuery = queryOptions({
  queryKey: [ALL, 'list'],
  queryFn: ({ signal }) => request<ServersView>('/api/mcp/servers', { signal }),
  refetchInterval: SERVERS_EVERY_MS,
});

export const statusesQuery = queryOptions({
  queryKey: [ALL, 'statuses'],
  queryFn: async ({ signal }) =>
    (await request<ConnectionStatusesView>('/api/mcp/connection/status', { signal })).connectionStatus,
  refetchInterval: STATUS_EVERY_MS,
});

/** Asking for it connects what is not connected, so nobody asks again and again. */
export const allToolsQuery = queryOptions({
  queryKey: [ALL, 'tools'],
  queryFn: async ({ signal }) => (await request<ToolsView>('/api/mcp/tools', { signal })).servers,
  staleTime: 60_000,
});

export const serverQuery = (name: string) =>
  queryOptions({
    queryKey: [...serverKey(name), 'view'],
    queryFn: ({ signal }) => request<ServerView>(serverPath(name), { signal }),
    refetchInterval: SERVERS_EVERY_MS,
  });

/** Whether a link to the page of a server was made for who is signed in. An answer does not change. */
export const askedQuery = (name: string, reference: string) =>
  queryOptions({
    queryKey: ['asked', name, reference],
    queryFn: ({ signal }) =>
      request<{ success: true }>(`/api/mcp/${segment(name)}/oauth/asked?for=${segment(reference)}`, {
        signal,
      }),
    staleTime: Infinity,
  });

/** Null: the caller looks after the server, and may not use it. */
export const statusQuery = (name: string) =>
  queryOptions({
    queryKey: [...serverKey(name), 'status'],
    queryFn: ({ signal }) => ifUsable(readStatus(name, signal)),
    refetchInterval: STATUS_EVERY_MS,
  });

/** The same. */
export const serverToolsQuery = (name: string) =>
  queryOptions({
    queryKey: [...serverKey(name), 'tools'],
    queryFn: ({ signal }) => ifUsable(request<ServerToolsView>(`${serverPath(name)}/tools`, { signal })),
    staleTime: 60_000,
  });

export const authValuesQuery = (name: string) =>
  queryOptions({
    queryKey: [...serverKey(name), 'values'],
    queryFn: async ({ signal }) =>
      (await request<AuthValuesView>(`/api/mcp/${segment(name)}/auth-values`, { signal })).authValueFlags,
  });

async function readStatus(name: string, signal: AbortSignal): Promise<ServerStatus> {
  const path = `/api/mcp/connection/status/${segment(name)}`;
  const { connectionStatus, ...rest } = await request<ConnectionStatusView>(path, { signal });
  return { ...rest, connectionState: connectionStatus };
}

async function ifUsable<T>(asking: Promise<T>): Promise<T | null> {
  try {
    return await asking;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** Not there, or not for the caller: the gateway does not tell the two apart. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'MCP_SERVER_NOT_FOUND';
}

/** Whoever may not use servers any more is not shown what they saw before. */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403;
}

/** What any of it says may be different now. */
export function serversChanged(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: [ALL] });
}

/** One is gone. Nothing is asked before the list is looked at: the page that is being left would ask for what is gone. */
export function serverRemoved(client: QueryClient, name: string): void {
  client.setQueryData(
    serversQuery.queryKey,
    (known) => known && Object.fromEntries(Object.entries(known).filter(([other]) => other !== name)),
  );
  void client.invalidateQueries({ queryKey: [ALL], refetchType: 'none' });
}

export function reinitialize(name: string): Promise<ReinitializeView> {
  return request(`/api/mcp/${segment(name)}/reinitialize`, { method: 'POST', body: {} });
}

/** A definition as it is sent: `********` stands for a secret that is stored. */
export type ServerConfig = Readonly<Record<string, unknown>>;

/** `draft`: of a server that was looked at before; the sign-in there goes along. */
export function createServer(config: ServerConfig, draft?: string): Promise<CreatedServerView> {
  const body = { config, ...(draft !== undefined && { draft }) };
  return request('/api/mcp/servers', { method: 'POST', body });
}

/** The whole definition anew, and only if it is still the one that was read. */
export function changeServer(
  name: string,
  config: ServerConfig,
  version: number | undefined,
): Promise<NamedServerView> {
  const headers = version === undefined ? {} : { 'If-Match': `"${version}"` };
  return request(serverPath(name), { method: 'PATCH', body: { config }, headers });
}

/** Everything that saving would ask about; nothing is stored. Without a name: of a new server. */
export function checkServer(config: ServerConfig, serverName: string | undefined): Promise<ServerCheckView> {
  const body = { config, ...(serverName !== undefined && { serverName }) };
  return request('/api/mcp/servers/check', { method: 'POST', body });
}

export async function removeServer(name: string): Promise<void> {
  await send(serverPath(name), { method: 'DELETE' });
}

const valuesOf = (name: string) => ({ pluginKey: `mcp_${name}` });

export async function setValues(name: string, auth: Readonly<Record<string, string>>): Promise<void> {
  await send('/api/user/plugins', {
    method: 'POST',
    body: { ...valuesOf(name), action: 'install', auth },
  });
}

/** Those that are named; all of them when none is. */
export async function clearValues(name: string, variables: readonly string[]): Promise<void> {
  const auth = Object.fromEntries(variables.map((variable) => [variable, '']));
  await send('/api/user/plugins', {
    method: 'POST',
    body: { ...valuesOf(name), action: 'uninstall', auth },
  });
}
