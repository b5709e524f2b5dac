import { useEffect } from 'react';

/** Listing tools connects a server: how it stands is asked for once they have arrived, and not with the next round. */
export function useStatusRefetch(listedAt: number, refetchStatus: () => Promise<unknown>): void {
  useEffect(() => {
    if (listedAt > 0) void refetchStatus();
  }, [listedAt, refetchStatus]);
}
