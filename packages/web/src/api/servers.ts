import type {
  AuthValuesView,
  ConnectionStatusView,
  ConnectionStatusesView,
  CreatedServerView,
  DiagnosisView,
  DiscoverToolsView,
  NamedServerView,
  ReinitializeView,
  ServerCheckView,
  ServerStatus,
  ServerToolsView,
  ServerView,
  ServersView,
  ToolsView,
} from '@behalf/contracts';
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect } from 'react';
import { ApiError, encodeSegment, requestJson, sendRequest } from './request.ts';

/** How soon a change of a connection shows, and one of a definition or of who may see it. */
const STATUS_REFRESH_MS = 5_000;
const SERVERS_REFRESH_MS = 15_000;

/** Everything below is about servers, and is read anew together. */
const SERVERS_KEY = 'servers';
export const serverKey = (name: string) => [SERVERS_KEY, 'one', name] as const;
const serverPath = (name: string) => `/api/mcp/servers/${encodeSegment(name)}`;

export const serversQuery = queryOptions({
  queryKey: [SERVERS_KEY, 'list'],
  queryFn: ({ signal }) => requestJson<ServersView>('/api/mcp/servers', { signal }),
  refetchInterval: SERVERS_REFRESH_MS,
});

export const statusesQuery = queryOptions({
  queryKey: [SERVERS_KEY, 'statuses'],
  queryFn: async ({ signal }) =>
    (await requestJson<ConnectionStatusesView>('/api/mcp/connection/status', { signal })).connectionStatus,
  refetchInterval: STATUS_REFRESH_MS,
});

/** Asking for it connects what is not connected, so nobody asks again and again. */
export const allToolsQuery = queryOptions({
  queryKey: [SERVERS_KEY, 'tools'],
  queryFn: async ({ signal }) => (await requestJson<ToolsView>('/api/mcp/tools', { signal })).servers,
  staleTime: 60_000,
});

export const serverQuery = (name: string) =>
  queryOptions({
    queryKey: [...serverKey(name), 'view'],
    queryFn: ({ signal }) => requestJson<ServerView>(serverPath(name), { signal }),
    refetchInterval: SERVERS_REFRESH_MS,
  });

/** Whether a link to the page of a server was made for who is signed in. An answer does not change. */
export const connectLinkQuery = (name: string, reference: string) =>
  queryOptions({
    queryKey: ['asked', name, reference],
    queryFn: ({ signal }) =>
      requestJson<{ success: true }>(
        `/api/mcp/${encodeSegment(name)}/oauth/asked?for=${encodeSegment(reference)}`,
        {
          signal,
        },
      ),
    staleTime: Infinity,
  });

/** Null: the caller looks after the server, and may not use it. */
export const statusQuery = (name: string) =>
  queryOptions({
    queryKey: [...serverKey(name), 'status'],
    queryFn: ({ signal }) => nullIfNotFound(readStatus(name, signal)),
    refetchInterval: STATUS_REFRESH_MS,
  });

/** The same. */
export const serverToolsQuery = (name: string) =>
  queryOptions({
    queryKey: [...serverKey(name), 'tools'],
    queryFn: ({ signal }) =>
      nullIfNotFound(requestJson<ServerToolsView>(`${serverPath(name)}/tools`, { signal })),
    staleTime: 60_000,
  });

export const authValuesQuery = (name: string) =>
  queryOptions({
    queryKey: [...serverKey(name), 'values'],
    queryFn: async ({ signal }) =>
      (await requestJson<AuthValuesView>(`/api/mcp/${encodeSegment(name)}/auth-values`, { signal }))
        .authValueFlags,
  });

async function readStatus(name: string, signal: AbortSignal): Promise<ServerStatus> {
  const path = `/api/mcp/connection/status/${encodeSegment(name)}`;
  const { connectionStatus, ...rest } = await requestJson<ConnectionStatusView>(path, { signal });
  return { ...rest, connectionState: connectionStatus };
}

async function nullIfNotFound<T>(pending: Promise<T>): Promise<T | null> {
  try {
    return await pending;
  } catch (error) {
    if (isServerNotFound(error)) return null;
    throw error;
  }
}

/** Not there, or not for the caller: the gateway does not tell the two apart. */
export function isServerNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'MCP_SERVER_NOT_FOUND';
}

/** Whoever may not use servers any more is not shown what they saw before. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403;
}

/** What any of it says may be different now. */
export function invalidateServers(queryClient: QueryClient): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: [SERVERS_KEY] });
}

/** One is gone. Nothing is asked before the list is looked at: the page that is being left would ask for what is gone. */
export function removeCachedServer(queryClient: QueryClient, name: string): void {
  queryClient.setQueryData(
    serversQuery.queryKey,
    (cached) => cached && Object.fromEntries(Object.entries(cached).filter(([other]) => other !== name)),
  );
  void queryClient.invalidateQueries({ queryKey: [SERVERS_KEY], refetchType: 'none' });
}

export function reinitializeServer(name: string): Promise<ReinitializeView> {
  return requestJson(`/api/mcp/${encodeSegment(name)}/reinitialize`, { method: 'POST', body: {} });
}

/** A definition as it is sent: `********` stands for a secret that is stored. */
export type ServerConfig = Readonly<Record<string, unknown>>;

/** `draft`: of a server that was looked at before; the sign-in there goes along. */
export function createServer(config: ServerConfig, draft?: string): Promise<CreatedServerView> {
  const body = { config, ...(draft !== undefined && { draft }) };
  return requestJson('/api/mcp/servers', { method: 'POST', body });
}

/** The whole definition anew, and only if it is still the one that was read. */
export function updateServer(
  name: string,
  config: ServerConfig,
  version: number | undefined,
): Promise<NamedServerView> {
  const headers = version === undefined ? {} : { 'If-Match': `"${version}"` };
  return requestJson(serverPath(name), { method: 'PATCH', body: { config }, headers });
}

/** Everything that saving would ask about; nothing is stored. Without a name: of a new server. */
export function checkServer(config: ServerConfig, serverName: string | undefined): Promise<ServerCheckView> {
  const body = { config, ...(serverName !== undefined && { serverName }) };
  return requestJson('/api/mcp/servers/check', { method: 'POST', body });
}

export async function deleteServer(name: string): Promise<void> {
  await sendRequest(serverPath(name), { method: 'DELETE' });
}

const pluginOf = (name: string) => ({ pluginKey: `mcp_${name}` });

export async function setValues(name: string, auth: Readonly<Record<string, string>>): Promise<void> {
  await sendRequest('/api/user/plugins', {
    method: 'POST',
    body: { ...pluginOf(name), action: 'install', auth },
  });
}

/** Those that are named; all of them when none is. */
export async function deleteValues(name: string, variables: readonly string[]): Promise<void> {
  const auth = Object.fromEntries(variables.map((variable) => [variable, '']));
  await sendRequest('/api/user/plugins', {
    method: 'POST',
    body: { ...pluginOf(name), action: 'uninstall', auth },
  });
}

/** Returns the title of a server by its ID, or the ID where no title is known. */
export function useServerTitleLookup(): (server: string) => string {
  const { data } = useQuery({ ...serversQuery, refetchInterval: false });
  return useCallback(
    (server) => (data && Object.hasOwn(data, server) ? data[server]?.title : undefined) ?? server,
    [data],
  );
}

/** Listing tools connects a server: how it stands is asked for once they have arrived, and not with the next round. */
export function useStatusRefetch(listedAt: number, refetchStatus: () => Promise<unknown>): void {
  useEffect(() => {
    if (listedAt > 0) void refetchStatus();
  }, [listedAt, refetchStatus]);
}

/** What a server is asked with that nobody saved. A key goes along once, and is kept nowhere. */
export type DiscoveryAuth =
  | { readonly type: 'none' }
  | { readonly type: 'draft'; readonly draftId: string }
  | {
      readonly type: 'key';
      readonly authorization_type: 'bearer' | 'basic' | 'custom';
      readonly custom_header?: string;
      readonly key: string;
    };

export interface DiscoveryEndpoint {
  readonly url: string;
  readonly type: 'streamable-http' | 'sse' | 'websocket';
}

/** The tools of a server before it is saved, or what has to be done to see them. Nothing is stored. */
export function discoverTools(
  { url, type }: DiscoveryEndpoint,
  auth: DiscoveryAuth,
  returnTo: string,
): Promise<DiscoverToolsView> {
  return requestJson('/api/mcp/discover-tools', { method: 'POST', body: { url, type, auth, returnTo } });
}

/** Has the gateway go through a call of the user step by step. Nothing is begun by it, and nothing kept. */
export function diagnoseServer(server: string): Promise<DiagnosisView> {
  return requestJson(`/api/mcp/${encodeSegment(server)}/diagnose`, { method: 'POST', body: {} });
}
