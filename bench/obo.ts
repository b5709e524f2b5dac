import { interleave, overRounds, quartiles, type Cell, type Row } from './cells.ts';
import { restCall, startGateway } from './gatewayProcess.ts';
import type { LoadResult } from './loadJob.ts';
import type { LookUpJob } from './obo/lookUps.ts';
import type { LookResult, MsalJob } from './obo/msal.ts';
import { onOboScene } from './obo/scene.ts';
import { countTokenRequests, usersCounted } from './obo/tokenRequests.ts';
import type { Processes } from './processes.ts';
import { onStage, type PartOptions } from './stage.ts';

const CALLERS = 16;
const KNOWN_USERS = 10_000;

/** What it costs to call in a user's name: requests at the identity provider, and time once there is a token. */
export async function measureObo({ progress, environment }: PartOptions): Promise<{
  rows: Row[];
  ratios: Record<string, number>;
  counts: Record<string, number>;
}> {
  return onStage(async ({ processes, upstream, cell }) => {
    const ratios = await lookUps(processes, progress);
    const users = usersCounted + CALLERS;
    return onOboScene({ processes, upstream, users }, async (scene) => {
      const { settings, variables } = scene;
      const gateway = await startGateway(processes, { environment, settings, variables, userIds: [] });
      const counts = await countTokenRequests({ processes, scene, gateway, progress, environment });

      // The same people at the same door of the same process, on servers that differ in their credential alone.
      const callers = await scene.newcomers(CALLERS);
      const warm = (name: string, call: ReturnType<typeof restCall>, expect = 'hello') =>
        cell(name, gateway, {
          ...{ concurrency: CALLERS, expect },
          requests: callers.map((headers) => ({ ...call, headers })),
        });
      const echo = (server: string) => restCall(server, 'echo', { text: 'hello' });
      const fixed = warm('Behalf, REST, one static key', echo('static'));
      const own = warm('Behalf, REST, a key of each user', echo('own'));
      const exchanged = warm('Behalf, REST, exchanged tokens', echo('entra'));
      const whole = warm(
        'the same, SDK server that verifies them',
        restCall('sample', 'whoami', {}),
        'User ',
      );
      // Short rounds, and many: what else the machine does meets all of them alike.
      const { rows, samples } = await interleave([fixed, own, exchanged], {
        ...{ part: 'obo', rounds: 31, ms: 500, warmMs: 2_000, progress },
      });
      const checked = await interleave([whole], {
        ...{ part: 'obo', rounds: 3, ms: 1_500, warmMs: 1_500, progress },
      });
      const against = (cell: Cell) => (at: (of: Cell) => LoadResult) =>
        at(exchanged).calls_per_s / at(cell).calls_per_s;
      const [q1, q3] = quartiles(samples, against(fixed));
      const rates = {
        warm_vs_static: overRounds(samples, against(fixed)),
        warm_vs_static_q1: q1,
        warm_vs_static_q3: q3,
        warm_vs_user_key: overRounds(samples, against(own)),
      };
      return { rows: [...rows, ...checked.rows], ratios: { ...ratios, ...rates }, counts };
    });
  });
}

/** A token that is kept, among those of many users: ours, and in the cache of Microsoft's library. */
async function lookUps(
  processes: Processes,
  progress: (line: string) => void,
): Promise<Record<'lookup_p50_ms' | 'lookup_p99_ms' | 'msal_lookup_p50_ms' | 'msal_lookup_p99_ms', number>> {
  const ours = processes.worker('obo/lookUps.ts');
  const own = await ours.ask<LookResult>({ users: KNOWN_USERS, lookups: 200_000 } satisfies LookUpJob);
  await ours.stop();
  const theirs = processes.worker('obo/msal.ts');
  const job: MsalJob = { do: 'look', users: KNOWN_USERS, ms: 5_000 };
  const msal = await theirs.ask<LookResult>(job);
  await theirs.stop();
  progress(`obo: ${own.lookups} look-ups, ${msal.lookups} of MSAL's cache, ${KNOWN_USERS} users in each`);
  return {
    lookup_p50_ms: precise(own.p50_ms),
    lookup_p99_ms: precise(own.p99_ms),
    msal_lookup_p50_ms: precise(msal.p50_ms),
    msal_lookup_p99_ms: precise(msal.p99_ms),
  };
}

/** To a tenth of a microsecond. */
function precise(ms: number): number {
  return Math.round(ms * 10_000) / 10_000;
}
