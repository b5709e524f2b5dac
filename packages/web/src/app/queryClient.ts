import { MutationCache, MutationObserver, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/request.ts';
import { userQuery } from '../api/user.ts';
import { createStore } from './store.ts';
import { confirmSession, markSessionEnded } from './userSession.ts';

/** Whether the gateway answered the last request. */
export const reachability = createStore<boolean>(true);

function markUnreachable(): void {
  reachability.set(false);
}

function markReachable(): void {
  reachability.set(true);
}

/** Error codes that indicate that the cached permissions of the user are outdated. */
const PERMISSION_ERRORS: ReadonlySet<string> = new Set([
  'FORBIDDEN',
  'MCP_FORBIDDEN',
  'MCP_ACL_FORBIDDEN',
  'MCP_OBO_FORBIDDEN',
]);
/** Automatic retries of a query after a network error or a status of 502 and above. Refusals are not retried. */
const MAX_RETRIES = 2;

function onError(error: unknown): void {
  if (!(error instanceof ApiError)) return;
  if (error.code === 'OFFLINE') markUnreachable();
  else markReachable();
  if (error.status === 401) markSessionEnded();
  if (PERMISSION_ERRORS.has(error.code)) void queryClient.invalidateQueries({ queryKey: userQuery.queryKey });
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError,
    onSuccess(_data, { queryKey }) {
      markReachable();
      if (queryKey[0] !== userQuery.queryKey[0]) return;
      const user = queryClient.getQueryData(userQuery.queryKey);
      if (user) confirmSession(user.id);
    },
  }),
  mutationCache: new MutationCache({ onError, onSuccess: markReachable }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) =>
        failures < MAX_RETRIES && error instanceof ApiError && (error.status === 0 || error.status >= 502),
      // Sends requests even if the browser reports offline: it is often wrong about loopback and VPNs.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

/**
 * Runs a request outside of React as a mutation, so that the handlers above observe an unreachable
 * gateway, an ended session and changed permissions.
 */
export function runAsMutation<T>(work: () => Promise<T>): Promise<T> {
  return new MutationObserver(queryClient, { mutationFn: work, gcTime: 0 }).mutate();
}
