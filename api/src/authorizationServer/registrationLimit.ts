import type { IncomingMessage } from 'node:http';
import type { AuthorizationServer } from '@behalf/contracts';
import { networkOf } from '@behalf/gateway';
import type { AuthorizationServerRecords } from '@behalf/gateway/facade';
import type { Clock } from '@behalf/kernel';
import { createTokenBuckets } from '../http/tokenBuckets.ts';

/** Of a client that registered and that nobody said yes to. Others last longer than every grant they were given. */
export const UNUSED_CLIENT_TTL_MS = 24 * 60 * 60 * 1000;
const MAX_REGISTRATION_NETWORKS = 10_000;
/** All networks together get what so many get each: who has registered has time to be agreed to, whoever else comes. */
const GLOBAL_LIMIT_FACTOR = 10;
const FULL_RETRY_MS = 60 * 60 * 1000;

/** Takes one: 0, or the milliseconds until it is worth another try. */
export type RegistrationLimit = (req: IncomingMessage) => Promise<number>;

export interface RegistrationLimitParts {
  readonly settings: { readonly registration: Readonly<AuthorizationServer['registration']> };
  readonly records: Pick<AuthorizationServerRecords, 'ensureCapacity'>;
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly clock: Clock;
}

/**
 * Anybody can register, and nobody may keep others from it. Of those that nobody has agreed to, the oldest makes room for the
 * next; only clients in use can be too many.
 */
export function createRegistrationLimit(parts: RegistrationLimitParts): RegistrationLimit {
  const { records, clientAddressOf, clock } = parts;
  const { perMinute, most: maxClients } = parts.settings.registration;
  const networkBuckets = createTokenBuckets({ clock, perMinute, maxBuckets: MAX_REGISTRATION_NETWORKS });
  const globalBucket = createTokenBuckets({
    clock,
    perMinute: perMinute * GLOBAL_LIMIT_FACTOR,
    maxBuckets: 1,
  });
  return async (req) => {
    // Their own first: what is refused there takes nothing from the others.
    const waitMs =
      networkBuckets.consume('', networkOf(clientAddressOf(req), 'site')) || globalBucket.consume('', '');
    if (waitMs > 0) return waitMs;
    return (await records.ensureCapacity('Client', maxClients, UNUSED_CLIENT_TTL_MS)) ? 0 : FULL_RETRY_MS;
  };
}
