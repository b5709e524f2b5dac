import { interleave, medianOverRounds, quartiles, type Cell, type BenchRow } from './cells.ts';
import { createRestCall, startBenchGateway } from './gatewayProcess.ts';
import type { LoadResult } from './loadJob.ts';
import type { CacheLookupJob } from './obo/cacheLookups.ts';
import type { LookupResult, MsalJob } from './obo/msal.ts';
import { withOboBenchRig } from './obo/rig.ts';
import { countTokenRequests, COUNTED_USERS } from './obo/tokenRequests.ts';
import type { Processes } from './processes.ts';
import { withBenchRig, type PartOptions } from './rig.ts';

const CALLERS = 16;
const KNOWN_USERS = 10_000;

/** The cost of calls with exchanged tokens: token requests when cold, and time when warm. */
export async function measureObo({ progress, environment }: PartOptions): Promise<{
  rows: BenchRow[];
  ratios: Record<string, number>;
  counts: Record<string, number>;
}> {
  return withBenchRig(async ({ processes, upstream, createCell }) => {
    const ratios = await measureLookups(processes, progress);
    const users = COUNTED_USERS + CALLERS;
    return withOboBenchRig({ processes, upstream, users }, async (rig) => {
      const { settings, variables } = rig;
      const gateway = await startBenchGateway(processes, { environment, settings, variables, userIds: [] });
      const counts = await countTokenRequests({ processes, rig, gateway, progress, environment });

      // The same users and process, on servers that differ only in their credential.
      const callers = await rig.newUserHeaders(CALLERS);
      const warmCell = (name: string, callSpec: ReturnType<typeof createRestCall>, expectedText = 'hello') =>
        createCell(name, gateway, {
          ...{ concurrency: CALLERS, expectedText },
          requests: callers.map((headers) => ({ ...callSpec, headers })),
        });
      const echo = (server: string) => createRestCall(server, 'echo', { text: 'hello' });
      const staticKeyCell = warmCell('Behalf, REST, one static key', echo('static'));
      const userKeyCell = warmCell('Behalf, REST, a key of each user', echo('own'));
      const exchangedCell = warmCell('Behalf, REST, exchanged tokens', echo('entra'));
      const aggregateCell = warmCell(
        'the same, SDK server that verifies them',
        createRestCall('sample', 'whoami', {}),
        'User ',
      );
      // Many short rounds, so that other load on the machine affects all cells equally.
      const { rows, samples } = await interleave([staticKeyCell, userKeyCell, exchangedCell], {
        ...{ part: 'obo', rounds: 31, ms: 500, warmMs: 2_000, progress },
      });
      const aggregateResult = await interleave([aggregateCell], {
        ...{ part: 'obo', rounds: 3, ms: 1_500, warmMs: 1_500, progress },
      });
      const compareWith = (cell: Cell) => (resultOf: (baseline: Cell) => LoadResult) =>
        resultOf(exchangedCell).calls_per_s / resultOf(cell).calls_per_s;
      const [q1, q3] = quartiles(samples, compareWith(staticKeyCell));
      const rateRatios = {
        warm_vs_static: medianOverRounds(samples, compareWith(staticKeyCell)),
        warm_vs_static_q1: q1,
        warm_vs_static_q3: q3,
        warm_vs_user_key: medianOverRounds(samples, compareWith(userKeyCell)),
      };
      return { rows: [...rows, ...aggregateResult.rows], ratios: { ...ratios, ...rateRatios }, counts };
    });
  });
}

/** Looks up a cached token among those of many users, in Behalf and in MSAL. */
async function measureLookups(
  processes: Processes,
  progress: (line: string) => void,
): Promise<Record<'lookup_p50_ms' | 'lookup_p99_ms' | 'msal_lookup_p50_ms' | 'msal_lookup_p99_ms', number>> {
  const gatewayWorker = processes.startWorker('obo/cacheLookups.ts');
  const userKeyCell = await gatewayWorker.runJob<LookupResult>({
    users: KNOWN_USERS,
    lookups: 200_000,
  } satisfies CacheLookupJob);
  await gatewayWorker.stop();
  const msalWorker = processes.startWorker('obo/msal.ts');
  const job: MsalJob = { do: 'look', users: KNOWN_USERS, ms: 5_000 };
  const msalResult = await msalWorker.runJob<LookupResult>(job);
  await msalWorker.stop();
  progress(
    `obo: ${userKeyCell.lookups} look-ups, ${msalResult.lookups} of MSAL's cache, ${KNOWN_USERS} users in each`,
  );
  return {
    lookup_p50_ms: roundToMicroseconds(userKeyCell.p50_ms),
    lookup_p99_ms: roundToMicroseconds(userKeyCell.p99_ms),
    msal_lookup_p50_ms: roundToMicroseconds(msalResult.p50_ms),
    msal_lookup_p99_ms: roundToMicroseconds(msalResult.p99_ms),
  };
}

/** Rounds to a tenth of a microsecond. */
function roundToMicroseconds(ms: number): number {
  return Math.round(ms * 10_000) / 10_000;
}
