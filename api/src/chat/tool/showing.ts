import type { UserPrincipal } from '@behalf/gateway';
import { MOST_SHOWN, MOST_SHOWN_OF_A_USER } from '../limits.ts';

export interface ShowingLimits {
  readonly ofAUser: number;
  readonly inAll: number;
}

/** The large results that are on their way to readers. One who does not read keeps them here, so there is an end to it. */
export interface Showing {
  /** Sends so many bytes, unless there is no room for them: then it sends nothing, and says false. */
  send(owner: Owner, bytes: number, work: () => Promise<void>): Promise<boolean>;
}

type Owner = Pick<UserPrincipal, 'tenant' | 'userId'>;

export function createShowing(
  { ofAUser, inAll }: ShowingLimits = { ofAUser: MOST_SHOWN_OF_A_USER, inAll: MOST_SHOWN },
): Showing {
  const own = new Map<string, number>();
  let total = 0;

  function count(key: string, bytes: number): void {
    total += bytes;
    const now = (own.get(key) ?? 0) + bytes;
    if (now === 0) own.delete(key);
    else own.set(key, now);
  }

  return {
    async send({ tenant, userId }, bytes, work) {
      const key = JSON.stringify([tenant, userId]);
      if (total + bytes > inAll || (own.get(key) ?? 0) + bytes > ofAUser) return false;
      count(key, bytes);
      try {
        await work();
      } finally {
        count(key, -bytes);
      }
      return true;
    },
  };
}
