import type { Principal } from '../principal/principal.ts';

/** How credentials call the user whose they are. */
export function credentialHolder({ userId }: Pick<Principal, 'userId'>): string {
  return `user:${userId}`;
}

/** How they call us, where everybody shares what is ours. */
export const APP_HOLDER = '@app';

/** Of a user's holder their id. */
export function userIdOfHolder(holder: string): string | undefined {
  return holder.startsWith('user:') ? holder.slice('user:'.length) : undefined;
}
