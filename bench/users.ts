import { interleave, medianOverRounds, type BenchRow } from './cells.ts';
import { createRestCall, createSettings, startBenchGateway } from './gatewayProcess.ts';
import { withBenchRig, type PartOptions } from './rig.ts';

const FEW_USERS = 10;
const MANY_USERS = 10_000;

/** Compares the cost of a call with ten thousand users, each with an own key. */
export async function measureUsers({ progress, environment }: PartOptions): Promise<{
  rows: BenchRow[];
  ratios: Record<'users_10k_vs_10', number>;
  counts: Record<'wrong_keys', number>;
}> {
  return withBenchRig(async ({ processes, upstream, createCell }) => {
    const url = `http://127.0.0.1:${upstream.port}`;
    const userIds = Array.from({ length: MANY_USERS }, (_, i) => `u${i}`);
    progress(`users: putting ${MANY_USERS} users with a key each into the store`);
    const gateway = await startBenchGateway(processes, {
      environment,
      userIds,
      variable: { server: 'bench', name: 'KEY', valueFor: (id) => `key-${id}` },
      settings: createSettings(upstream.port, {
        bench: {
          type: 'streamable-http',
          url: `${url}/modern`,
          headers: { 'x-user-key': '{{KEY}}' },
          customUserVars: { KEY: { title: 'Key', description: 'The key of this user.' } },
        },
      }),
    });
    const requests = gateway.users.map((headers, i) => ({
      ...createRestCall('bench', 'echo', { text: `u${i}` }),
      headers,
    }));
    const load = { concurrency: 16, expectedText: '"text":"u' };
    const fewUsersCell = createCell(`Behalf, REST, ${FEW_USERS} users`, gateway, {
      ...load,
      requests: requests.slice(0, FEW_USERS),
    });
    const manyUsersCell = createCell(`Behalf, REST, ${MANY_USERS} users`, gateway, { ...load, requests });
    progress('users: each user calls once');
    await createCell('', gateway, { ...load, requests, minCalls: MANY_USERS }).run(0);
    const { rows, samples } = await interleave([fewUsersCell, manyUsersCell], {
      part: 'users',
      rounds: 5,
      ms: 4_000,
      warmMs: 2_000,
      progress,
    });
    const counts = (await (await fetch(`${url}/counts`)).json()) as { wrong: number };
    if (counts.wrong > 0) throw new Error(`${counts.wrong} calls came with another user's key`);
    return {
      rows,
      ratios: {
        users_10k_vs_10: medianOverRounds(
          samples,
          (resultOf) => resultOf(manyUsersCell).calls_per_s / resultOf(fewUsersCell).calls_per_s,
        ),
      },
      counts: { wrong_keys: counts.wrong },
    };
  });
}
