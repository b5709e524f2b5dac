import { hopHeader } from '@behalf/contracts';
import type { Keyring, SealContext } from '@behalf/kernel';

/** Counts how many gateways in a row forwarded a call, so that servers that point at each other end in an error. */
export const HOP_HEADER = hopHeader;

/** The third hop is refused: a gateway behind a gateway is a set-up, three in a row are a loop. */
export const MAX_HOPS = 2;

export interface HopCounter {
  /** The count an inbound request carries: 0 without the header, MAX_HOPS when it cannot be understood. */
  read(value: string | readonly string[] | null | undefined): number;
  /** The header value of an outgoing request. */
  write(count: number): string;
}

const HOP_CONTEXT: SealContext = { tenant: '-', principal: '-', server: '-', kind: 'hop', field: 'count' };

/**
 * The value is the count in the clear, then the count sealed. The seal is what replicas with our keys believe:
 * nobody between them can lower it short of dropping the header. A gateway with other keys cannot open it and counts
 * with the clear number; without that, a loop over two deployments would start again at each of them. A forged clear
 * number can only shorten the forger's own chain, and a value that makes no sense counts as the limit.
 */
export function createHopCounter(keyring: Keyring): HopCounter {
  // The same few values go out with every request: sealing each time would cost more than the request's parsing.
  const encodedCounts = new Map<number, string>();

  return {
    read(value) {
      if (value === undefined || value === null) return 0;
      if (typeof value !== 'string') return value.length === 0 ? 0 : MAX_HOPS;
      const [, claimedCount, envelope = ''] = /^([0-9]);([A-Za-z0-9._-]{1,200})$/.exec(value) ?? [];
      if (claimedCount === undefined) return MAX_HOPS;
      // A request that another gateway forwarded has at least one hop behind it, whatever it claims.
      return Math.max(1, Number(claimedCount), unsealCount(keyring, envelope));
    },
    write(count) {
      let value = encodedCounts.get(count);
      if (value === undefined) {
        value = `${count};${keyring.seal(String(count), HOP_CONTEXT)}`;
        encodedCounts.set(count, value);
      }
      return value;
    },
  };
}

function unsealCount(keyring: Keyring, envelope: string): number {
  try {
    const count = Number(keyring.open(envelope, HOP_CONTEXT));
    return Number.isInteger(count) ? count : MAX_HOPS;
  } catch {
    return 0;
  }
}
