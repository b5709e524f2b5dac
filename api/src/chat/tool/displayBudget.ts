import type { UserPrincipal } from '@behalf/gateway';
import { MAX_DISPLAY_BYTES, MAX_DISPLAY_BYTES_PER_USER } from '../limits.ts';

export interface DisplayLimits {
  readonly maxPerUser: number;
  readonly maxTotal: number;
}

/** The large results that are on their way to readers. One who does not read keeps them here, so there is an end to it. */
export interface DisplayBudget {
  /** Sends so many bytes, unless there is no room for them: then it sends nothing, and says false. */
  send(owner: Owner, bytes: number, work: () => Promise<void>): Promise<boolean>;
}

type Owner = Pick<UserPrincipal, 'tenant' | 'userId'>;

export function createDisplayBudget(
  { maxPerUser, maxTotal }: DisplayLimits = {
    maxPerUser: MAX_DISPLAY_BYTES_PER_USER,
    maxTotal: MAX_DISPLAY_BYTES,
  },
): DisplayBudget {
  const bytesByUser = new Map<string, number>();
  let total = 0;

  function addBytes(key: string, bytes: number): void {
    total += bytes;
    const userBytes = (bytesByUser.get(key) ?? 0) + bytes;
    if (userBytes === 0) bytesByUser.delete(key);
    else bytesByUser.set(key, userBytes);
  }

  return {
    async send({ tenant, userId }, bytes, work) {
      const key = JSON.stringify([tenant, userId]);
      if (total + bytes > maxTotal || (bytesByUser.get(key) ?? 0) + bytes > maxPerUser) return false;
      addBytes(key, bytes);
      try {
        await work();
      } finally {
        addBytes(key, -bytes);
      }
      return true;
    },
  };
}
