import { createOboTokens, type UserPrincipal } from '@behalf/gateway';
import { serveJobs } from '../callLoop.ts';
import { summarise } from '../loadJob.ts';
import { composeExchange } from './composeExchange.ts';
import type { LookResult } from './msal.ts';

export interface LookUpJob {
  users: number;
  lookups: number;
}

/**
 * What a warm call pays for its token: every check that comes before it, and the token of one of many users out of
 * memory. In a process of its own, with all parts real but the provider and the store.
 */
serveJobs(async ({ users, lookups }: LookUpJob): Promise<LookResult> => {
  const { parts, server, wanted, principals, exchanges, close } = await composeExchange(users);
  const tokens = createOboTokens(parts);
  const tokenOf = (principal: UserPrincipal) =>
    tokens.bearerFor(server, principal, wanted, { requests: 0, isRenewed: false }).token();

  for (const principal of principals) await tokenOf(principal);
  if (exchanges() !== users) throw new Error(`${users} users cost ${exchanges()} exchanges`);
  const latencies: number[] = [];
  for (let turn = 0; turn < lookups; turn += 1) {
    // All over the memory: a prime.
    const principal = principals[(turn * 7919) % users] as UserPrincipal;
    const begun = performance.now();
    const token = tokenOf(principal);
    // Now and then an account is read again, and who comes then waits for it.
    if (typeof token !== 'string') await token;
    latencies.push(performance.now() - begun);
  }
  if (exchanges() !== users) throw new Error('Somebody was exchanged for again: these are no look-ups');
  await close();
  const { calls, p50_ms, p99_ms } = summarise(latencies, 1);
  return { lookups: calls, p50_ms, p99_ms };
});
