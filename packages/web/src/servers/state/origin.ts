import type { ServerView } from '@behalf/contracts';
import type { StateKind } from './serverState.ts';

export type Origin = 'configuration' | 'override' | 'yours' | 'shared' | 'managed';

/** Where a server comes from, for this person. */
export function serverOrigin(
  { source, author }: Pick<ServerView, 'source' | 'author'>,
  userId: string | undefined,
  stateKind: StateKind,
): Origin {
  if (source === 'yaml') return 'configuration';
  if (source === 'config') return 'override';
  if (author !== undefined && author === userId) return 'yours';
  return stateKind === 'not_shared' ? 'managed' : 'shared';
}
