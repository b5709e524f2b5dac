import { MutationObserver } from '@tanstack/react-query';
import { queryClient } from './queryClient.ts';

/**
 * A request outside of React, as a mutation: a gateway that is silent, a sign-in that ended and rights that changed are
 * noticed as everywhere.
 */
export function runAsMutation<T>(work: () => Promise<T>): Promise<T> {
  return new MutationObserver(queryClient, { mutationFn: work, gcTime: 0 }).mutate();
}
