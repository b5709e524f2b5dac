import type { Principal } from './principal.ts';

/** The `principal` of credentials that belong to the gateway, for servers that all users share. */
export const APP_HOLDER = '@app';

/** The `principal` of a user's credentials. */
export function credentialHolder({ userId }: Pick<Principal, 'userId'>): string {
  return `user:${userId}`;
}

export function userIdOfHolder(holder: string): string | undefined {
  return holder.startsWith('user:') ? holder.slice('user:'.length) : undefined;
}
