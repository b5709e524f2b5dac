import { interleave, medianOverRounds, type BenchRow } from './cells.ts';
import { createRestCall, createSettings, startBenchGateway } from './gatewayProcess.ts';
import { withBenchRig, type PartOptions } from './rig.ts';

const FEW_SERVERS = 10;
const MANY_SERVERS = 1_000;

/** Compares the cost of a call with a thousand configured servers. */
export async function measureServers({ progress, environment }: PartOptions): Promise<{
  rows: BenchRow[];
  ratios: Record<'servers_1k_vs_10', number>;
}> {
  return withBenchRig(async ({ processes, upstream, createCell }) => {
    const startCell = async (count: number) => {
      const names = Array.from({ length: count }, (_, i) => `s${i}`);
      const url = `http://127.0.0.1:${upstream.port}/modern`;
      const gateway = await startBenchGateway(processes, {
        environment,
        settings: createSettings(
          upstream.port,
          Object.fromEntries(names.map((name) => [name, { type: 'streamable-http', url: `${url}/${name}` }])),
        ),
      });
      const requests = names.map((name) => ({
        ...createRestCall(name, 'echo', { text: 'hello' }),
        headers: gateway.headers,
      }));
      return createCell(`Behalf, REST, ${count} servers`, gateway, {
        concurrency: 16,
        expectedText: 'hello',
        requests,
      });
    };
    const fewServersCell = await startCell(FEW_SERVERS);
    const manyServersCell = await startCell(MANY_SERVERS);
    const { rows, samples } = await interleave([fewServersCell, manyServersCell], {
      part: 'servers',
      rounds: 5,
      ms: 2_000,
      warmMs: 4_000,
      progress,
    });
    return {
      rows,
      ratios: {
        servers_1k_vs_10: medianOverRounds(
          samples,
          (resultOf) => resultOf(manyServersCell).calls_per_s / resultOf(fewServersCell).calls_per_s,
        ),
      },
    };
  });
}
