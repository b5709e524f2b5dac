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

/** Refresh intervals of connection states and of server definitions and permissions. */
const STATUS_REFRESH_MS = 5_000;
const SERVERS_REFRESH_MS = 15_000;

/** Common key prefix: all server queries are invalidated together. */
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

/** No refetch interval: this request connects servers that are not connected. */
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

/** Checks whether a link to a server page was created for the signed-in user. The result does not change. */
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

/** Null if the caller may manage the server but not use it. */
export const statusQuery = (name: string) =>
  queryOptions({
    queryKey: [...serverKey(name), 'status'],
    queryFn: ({ signal }) => nullIfNotFound(readStatus(name, signal)),
    refetchInterval: STATUS_REFRESH_MS,
  });

/** Null if the caller may manage the server but not use it. */
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

/** Missing or forbidden: the gateway returns the same error for both. */
export function isServerNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'MCP_SERVER_NOT_FOUND';
}

/** Cached server data must not be shown to a user who lost the permission. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.status === 403;
}

export function invalidateServers(queryClient: QueryClient): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: [SERVERS_KEY] });
}

/**
 * Removes a deleted server from the cached list. Queries are invalidated without a refetch: the
 * page of the server is still mounted and would request the deleted server.
 */
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

/** Server definition as sent to the gateway. `********` represents a stored secret. */
export type ServerConfig = Readonly<Record<string, unknown>>;

/** Creates a server. `draft` is the ID of an inspected draft, whose sign-in the new server takes over. */
export function createServer(config: ServerConfig, draft?: string): Promise<CreatedServerView> {
  const body = { config, ...(draft !== undefined && { draft }) };
  return requestJson('/api/mcp/servers', { method: 'POST', body });
}

/** Replaces the whole definition. The gateway rejects the change if the server is no longer at `version`. */
export function updateServer(
  name: string,
  config: ServerConfig,
  version: number | undefined,
): Promise<NamedServerView> {
  const headers = version === undefined ? {} : { 'If-Match': `"${version}"` };
  return requestJson(serverPath(name), { method: 'PATCH', body: { config }, headers });
}

/** Runs all checks of a save without saving. If `serverName` is undefined, the definition is a new server. */
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

/** Deletes the named values, or all values if `variables` is empty. */
export async function deleteValues(name: string, variables: readonly string[]): Promise<void> {
  const auth = Object.fromEntries(variables.map((variable) => [variable, '']));
  await sendRequest('/api/user/plugins', {
    method: 'POST',
    body: { ...pluginOf(name), action: 'uninstall', auth },
  });
}

/** Returns a function that maps a server ID to its title, or to the ID if no title is known. */
export function useServerTitleLookup(): (server: string) => string {
  const { data } = useQuery({ ...serversQuery, refetchInterval: false });
  return useCallback(
    (server) => (data && Object.hasOwn(data, server) ? data[server]?.title : undefined) ?? server,
    [data],
  );
}

/** Refetches the connection status when a tool list arrives, because listing tools connects the server. */
export function useStatusRefetch(listedAt: number, refetchStatus: () => Promise<unknown>): void {
  useEffect(() => {
    if (listedAt > 0) void refetchStatus();
  }, [listedAt, refetchStatus]);
}

/** Credential for the discovery of an unsaved server. The gateway uses a key once and does not store it. */
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

/** Lists the tools of an unsaved server, or returns the step that is required first. Nothing is stored. */
export function discoverTools(
  { url, type }: DiscoveryEndpoint,
  auth: DiscoveryAuth,
  returnTo: string,
): Promise<DiscoverToolsView> {
  return requestJson('/api/mcp/discover-tools', { method: 'POST', body: { url, type, auth, returnTo } });
}

/** Runs the gateway's step-by-step diagnosis of a call of this user. It has no side effects. */
export function diagnoseServer(server: string): Promise<DiagnosisView> {
  return requestJson(`/api/mcp/${encodeSegment(server)}/diagnose`, { method: 'POST', body: {} });
}
