import { interleave, overRounds, type Row } from './cells.ts';
import { restCall, settingsFor, startGateway } from './gatewayProcess.ts';
import { onStage, type PartOptions } from './stage.ts';

const FEW = 10;
const MANY = 10_000;

/** Does a call cost the same when ten thousand people call, each with a key of their own? */
export async function measureUsers({ progress, environment }: PartOptions): Promise<{
  rows: Row[];
  ratios: Record<'users_10k_vs_10', number>;
  counts: Record<'wrong_keys', number>;
}> {
  return onStage(async ({ processes, upstream, cell }) => {
    const url = `http://127.0.0.1:${upstream.port}`;
    const userIds = Array.from({ length: MANY }, (_, i) => `u${i}`);
    progress(`users: putting ${MANY} users with a key each into the store`);
    const gateway = await startGateway(processes, {
      environment,
      userIds,
      variable: { server: 'bench', name: 'KEY', valueOf: (id) => `key-${id}` },
      settings: settingsFor(upstream.port, {
        bench: {
          type: 'streamable-http',
          url: `${url}/modern`,
          headers: { 'x-user-key': '{{KEY}}' },
          customUserVars: { KEY: { title: 'Key', description: 'The key of this user.' } },
        },
      }),
    });
    const requests = gateway.users.map((headers, i) => ({
      ...restCall('bench', 'echo', { text: `u${i}` }),
      headers,
    }));
    const load = { concurrency: 16, expect: '"text":"u' };
    const few = cell(`Behalf, REST, ${FEW} users`, gateway, { ...load, requests: requests.slice(0, FEW) });
    const many = cell(`Behalf, REST, ${MANY} users`, gateway, { ...load, requests });
    progress('users: everybody calls once');
    await cell('', gateway, { ...load, requests, atLeast: MANY }).run(0);
    const { rows, samples } = await interleave([few, many], {
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
        users_10k_vs_10: overRounds(samples, (at) => at(many).calls_per_s / at(few).calls_per_s),
      },
      counts: { wrong_keys: counts.wrong },
    };
  });
}
