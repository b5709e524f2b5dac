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
 * The cost of the token of a warm call: all checks, and one token among many in memory. Runs in a separate process
 * with real components except provider and store.
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
    // A prime as step size spreads the accesses over the memory.
    const principal = principals[(index * 7919) % users] as UserPrincipal;
    const startedAt = performance.now();
    const token = obtainToken(principal);
    // Occasionally an account is read again, and the caller waits.
    if (typeof token !== 'string') await token;
    latencies.push(performance.now() - startedAt);
  }
  if (exchanges() !== users) throw new Error('A token was exchanged again: this does not measure lookups');
  await close();
  const { calls, p50_ms, p99_ms } = summarizeLatencies(latencies, 1);
  return { lookups: calls, p50_ms, p99_ms };
});
