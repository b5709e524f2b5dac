import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/apiError.ts';
import { userQuery } from '../api/user.ts';
import { markReachable, markUnreachable } from './reachability.ts';
import { confirmSession, markSessionEnded } from './sessionStatus.ts';

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
