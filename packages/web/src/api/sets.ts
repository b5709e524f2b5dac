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
import { ApiError } from './apiError.ts';
import { request, segment, send } from './request.ts';

const EVERY_MS = 15_000;
/** How soon a step that ended shows. */
const RUNNING_EVERY_MS = 1_000;

const ALL = 'sets';
const ROOT = '/api/mcp/sets';
const setPath = (id: string) => `${ROOT}/${segment(id)}`;
const runPath = (id: string) => `/api/mcp/runs/${segment(id)}`;

export const setsQuery = queryOptions({
  queryKey: [ALL, 'list'],
  queryFn: async ({ signal }) => (await request<SetsView>(`${ROOT}?limit=200`, { signal })).sets,
  refetchInterval: EVERY_MS,
});

export const setQuery = (id: string) =>
  queryOptions({
    queryKey: [ALL, 'one', id],
    queryFn: ({ signal }) => request<SetView>(setPath(id), { signal }),
    refetchInterval: EVERY_MS,
  });

/** Under the key of servers: a sign-in at one changes the answer. */
export const setCheckQuery = (id: string) =>
  queryOptions({
    queryKey: ['servers', ALL, 'check', id],
    queryFn: ({ signal }) =>
      request<SetCheckView>(`${setPath(id)}/check`, { method: 'POST', body: {}, signal }),
  });

export const runsQuery = (id: string) =>
  queryOptions({
    queryKey: [ALL, 'runs', id],
    queryFn: async ({ signal }) => (await request<RunsView>(`${setPath(id)}/runs?limit=20`, { signal })).runs,
    refetchInterval: EVERY_MS,
  });

/** A run goes on at the gateway whoever looks: how it stands is asked for, and a page that is opened anew finds it. */
export const runQuery = (id: string) =>
  queryOptions({
    queryKey: [ALL, 'run', id],
    queryFn: ({ signal }) => request<RunView>(runPath(id), { signal }),
    refetchInterval: ({ state }) => (state.data && state.data.state !== 'running' ? false : RUNNING_EVERY_MS),
  });

export function isSetGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'SET_NOT_FOUND';
}

export async function setsChanged(client: QueryClient): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: [ALL] }),
    client.invalidateQueries({ queryKey: ['servers', ALL] }),
  ]);
}

export function createSet(set: SetRequest): Promise<SetView> {
  return request(ROOT, { method: 'POST', body: set });
}

/** Only if it is still the version that was read. */
export function changeSet(id: string, change: SetChange, version: number): Promise<SetView> {
  return request(setPath(id), { method: 'PATCH', body: change, headers: { 'If-Match': `"${version}"` } });
}

export async function removeSet(id: string): Promise<void> {
  await send(setPath(id), { method: 'DELETE' });
}

/** A set as somebody runs it: the versions are those they have seen, and others are not run. */
export interface SetRunInput {
  readonly version: number;
  /** By the key of the step, as are the versions of the blocks. */
  readonly inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly blocks: Readonly<Record<string, number>>;
}

export function startRun(id: string, { version, ...body }: SetRunInput): Promise<RunView> {
  return request(`${setPath(id)}/run`, { method: 'POST', body, headers: { 'If-Match': `"${version}"` } });
}

export function cancelRun(id: string): Promise<RunView> {
  return request(`${runPath(id)}/cancel`, { method: 'POST', body: {} });
}

export function resumeRun(id: string): Promise<RunView> {
  return request(`${runPath(id)}/resume`, { method: 'POST', body: {} });
}
