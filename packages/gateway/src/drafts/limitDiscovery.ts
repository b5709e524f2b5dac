import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { AttemptCounter } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';

/** Enough for somebody who mistypes an address again and again, and too few for who looks for hosts that answer. */
const MAX_DISCOVERIES = 30;
const WINDOW_MS = 5 * 60 * 1000;

/** Each names an address that this gateway then opens: counted for all processes together, besides the rate of the door. */
export async function limitDiscovery(
  { attempts, clock }: { readonly attempts: AttemptCounter; readonly clock: Clock },
  { tenant, userId }: UserPrincipal,
): Promise<void> {
  const { count, resetAt } = await attempts.hit(`discover:${JSON.stringify([tenant, userId])}`, WINDOW_MS);
  if (count <= MAX_DISCOVERIES) return;
  throw new GatewayError('RATE_LIMITED', { retryAfterMs: Math.max(1_000, resetAt - clock.now()) });
}
