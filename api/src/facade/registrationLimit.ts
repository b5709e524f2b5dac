import type { IncomingMessage } from 'node:http';
import type { AuthorizationServer } from '@behalf/contracts';
import { networkOf } from '@behalf/gateway';
import type { AuthorizationServerRecords } from '@behalf/gateway/facade';
import type { Clock } from '@behalf/kernel';
import { createBuckets } from '../door/buckets.ts';

/** Of a client that registered and that nobody said yes to. Others last longer than every grant they were given. */
export const UNUSED_CLIENT_MS = 24 * 60 * 60 * 1000;
const MOST_NETWORKS = 10_000;
/** All networks together get what so many get each: who has registered has time to be agreed to, whoever else comes. */
const NETWORKS_AT_ONCE = 10;
const FULL_RETRY_MS = 60 * 60 * 1000;

/** Takes one: 0, or the milliseconds until it is worth another try. */
export type RegistrationLimit = (req: IncomingMessage) => Promise<number>;

export interface RegistrationLimitParts {
  readonly settings: { readonly registration: Readonly<AuthorizationServer['registration']> };
  readonly records: Pick<AuthorizationServerRecords, 'ensureCapacity'>;
  readonly addressOf: (req: IncomingMessage) => string;
  readonly clock: Clock;
}

/**
 * Anybody can register, and nobody may keep others from it. Of those that nobody has agreed to, the oldest makes room for the
 * next; only clients in use can be too many.
 */
export function createRegistrationLimit(parts: RegistrationLimitParts): RegistrationLimit {
  const { records, addressOf, clock } = parts;
  const { perMinute, most } = parts.settings.registration;
  const own = createBuckets({ clock, perMinute, most: MOST_NETWORKS });
  const all = createBuckets({ clock, perMinute: perMinute * NETWORKS_AT_ONCE, most: 1 });
  return async (req) => {
    // Their own first: what is refused there takes nothing from the others.
    const waitMs = own.take('', networkOf(addressOf(req), 'site')) || all.take('', '');
    if (waitMs > 0) return waitMs;
    return (await records.ensureCapacity('Client', most, UNUSED_CLIENT_MS)) ? 0 : FULL_RETRY_MS;
  };
}
