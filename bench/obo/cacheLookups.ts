import { createOboTokens, type UserPrincipal } from '@behalf/gateway';
import { serveJobs } from '../callLoop.ts';
import { summarizeLatencies } from '../loadJob.ts';
import { composeExchange } from './composeExchange.ts';
import type { LookupResult } from './msal.ts';

export interface CacheLookupJob {
  users: number;
  lookups: number;
}

/**
 * What a warm call pays for its token: every check that comes before it, and the token of one of many users out of
 * memory. In a process of its own, with all parts real but the provider and the store.
 */
serveJobs(async ({ users, lookups }: CacheLookupJob): Promise<LookupResult> => {
  const { parts, server, requestedScopes, principals, exchanges, close } = await composeExchange(users);
  const oboTokens = createOboTokens(parts);
  const obtainToken = (principal: UserPrincipal) =>
    oboTokens.bearerFor(server, principal, requestedScopes, { requests: 0, isRenewed: false }).token();

  for (const principal of principals) await obtainToken(principal);
  if (exchanges() !== users) throw new Error(`${users} users cost ${exchanges()} exchanges`);
  const latencies: number[] = [];
  for (let index = 0; index < lookups; index += 1) {
    // All over the memory: a prime.
    const principal = principals[(index * 7919) % users] as UserPrincipal;
    const startedAt = performance.now();
    const token = obtainToken(principal);
    // Now and then an account is read again, and who comes then waits for it.
    if (typeof token !== 'string') await token;
    latencies.push(performance.now() - startedAt);
  }
  if (exchanges() !== users) throw new Error('Somebody was exchanged for again: these are no look-ups');
  await close();
  const { calls, p50_ms, p99_ms } = summarizeLatencies(latencies, 1);
  return { lookups: calls, p50_ms, p99_ms };
});
