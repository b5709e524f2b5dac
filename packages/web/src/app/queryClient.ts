import { MutationCache, MutationObserver, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/request.ts';
import { userQuery } from '../api/user.ts';
import { createStore } from './store.ts';
import { confirmSession, markSessionEnded } from './userSession.ts';

/** Whether the gateway answered when it was last asked. */
export const reachability = createStore<boolean>(true);

function markUnreachable(): void {
  reachability.set(false);
}

function markReachable(): void {
  reachability.set(true);
}

/** Codes with which the gateway says that the caller's rights are not what the page believed. */
const PERMISSION_ERRORS: ReadonlySet<string> = new Set([
  'FORBIDDEN',
  'MCP_FORBIDDEN',
  'MCP_ACL_FORBIDDEN',
  'MCP_OBO_FORBIDDEN',
]);
/** How often something is asked again by itself: twice for a network that stumbled, never for a refusal. */
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
      // Asked even where the browser believes to be offline: it is often wrong about loopback and VPNs.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always', retry: false },
  },
});

/**
 * A request outside of React, as a mutation: a gateway that is silent, a sign-in that ended and rights that changed are
 * noticed as everywhere.
 */
export function runAsMutation<T>(work: () => Promise<T>): Promise<T> {
  return new MutationObserver(queryClient, { mutationFn: work, gcTime: 0 }).mutate();
}
