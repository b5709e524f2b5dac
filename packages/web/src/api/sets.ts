import type {
  RunsView,
  RunView,
  SetChange,
  SetCheckView,
  SetRequest,
  SetsView,
  SetView,
} from '@behalf/contracts';
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { ApiError, encodeSegment, requestJson, sendRequest } from './request.ts';

const REFRESH_MS = 15_000;
/** Refresh interval of a running set. */
const RUN_REFRESH_MS = 1_000;

const SETS_KEY = 'sets';
const SETS_PATH = '/api/mcp/sets';
const setPath = (id: string) => `${SETS_PATH}/${encodeSegment(id)}`;
const runPath = (id: string) => `/api/mcp/runs/${encodeSegment(id)}`;

export const setsQuery = queryOptions({
  queryKey: [SETS_KEY, 'list'],
  queryFn: async ({ signal }) => (await requestJson<SetsView>(`${SETS_PATH}?limit=200`, { signal })).sets,
  refetchInterval: REFRESH_MS,
});

export const setQuery = (id: string) =>
  queryOptions({
    queryKey: [SETS_KEY, 'one', id],
    queryFn: ({ signal }) => requestJson<SetView>(setPath(id), { signal }),
    refetchInterval: REFRESH_MS,
  });

/** The key is below `servers` because a new sign-in at a server changes the result. */
export const setCheckQuery = (id: string) =>
  queryOptions({
    queryKey: ['servers', SETS_KEY, 'check', id],
    queryFn: ({ signal }) =>
      requestJson<SetCheckView>(`${setPath(id)}/check`, { method: 'POST', body: {}, signal }),
  });

export const runsQuery = (id: string) =>
  queryOptions({
    queryKey: [SETS_KEY, 'runs', id],
    queryFn: async ({ signal }) =>
      (await requestJson<RunsView>(`${setPath(id)}/runs?limit=20`, { signal })).runs,
    refetchInterval: REFRESH_MS,
  });

/** Polls a run. It continues at the gateway without this page, which finds it again after a reload. */
export const runQuery = (id: string) =>
  queryOptions({
    queryKey: [SETS_KEY, 'run', id],
    queryFn: ({ signal }) => requestJson<RunView>(runPath(id), { signal }),
    refetchInterval: ({ state }) => (state.data && state.data.state !== 'running' ? false : RUN_REFRESH_MS),
  });

export function isSetNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'SET_NOT_FOUND';
}

export async function invalidateSets(queryClient: QueryClient): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: [SETS_KEY] }),
    queryClient.invalidateQueries({ queryKey: ['servers', SETS_KEY] }),
  ]);
}

/**
 * Removes a deleted set from the cached list. Queries are invalidated without a refetch: the page of
 * the set is still mounted and would request the deleted set.
 */
export function removeCachedSet(queryClient: QueryClient, id: string): void {
  queryClient.setQueryData(setsQuery.queryKey, (cached) => cached?.filter((set) => set.id !== id));
  void queryClient.invalidateQueries({ queryKey: [SETS_KEY], refetchType: 'none' });
}

export function createSet(set: SetRequest): Promise<SetView> {
  return requestJson(SETS_PATH, { method: 'POST', body: set });
}

/** Changes a set. The gateway rejects the change if the set is no longer at `version`. */
export function changeSet(id: string, change: SetChange, version: number): Promise<SetView> {
  return requestJson(setPath(id), { method: 'PATCH', body: change, headers: { 'If-Match': `"${version}"` } });
}

export async function deleteSet(id: string): Promise<void> {
  await sendRequest(setPath(id), { method: 'DELETE' });
}

/** Parameters of a set run. The gateway does not run any other versions than the ones that the user saw. */
export interface SetRunInput {
  readonly version: number;
  /** Inputs by step key. The versions in `blocks` use the same keys. */
  readonly inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly blocks: Readonly<Record<string, number>>;
}

export function startRun(id: string, { version, ...body }: SetRunInput): Promise<RunView> {
  return requestJson(`${setPath(id)}/run`, { method: 'POST', body, headers: { 'If-Match': `"${version}"` } });
}

export function cancelRun(id: string): Promise<RunView> {
  return requestJson(`${runPath(id)}/cancel`, { method: 'POST', body: {} });
}

export function resumeRun(id: string): Promise<RunView> {
  return requestJson(`${runPath(id)}/resume`, { method: 'POST', body: {} });
}
