import { interleave, overRounds, type Row } from './cells.ts';
import { restCall, settingsFor, startGateway } from './gatewayProcess.ts';
import { onStage, type PartOptions } from './stage.ts';

const FEW = 10;
const MANY = 1_000;

/** Does a call cost the same when a thousand servers are configured? */
export async function measureServers({ progress, environment }: PartOptions): Promise<{
  rows: Row[];
  ratios: Record<'servers_1k_vs_10', number>;
}> {
  return onStage(async ({ processes, upstream, cell }) => {
    const start = async (count: number) => {
      const names = Array.from({ length: count }, (_, i) => `s${i}`);
      const url = `http://127.0.0.1:${upstream.port}/modern`;
      const gateway = await startGateway(processes, {
        environment,
        settings: settingsFor(
          upstream.port,
          Object.fromEntries(names.map((name) => [name, { type: 'streamable-http', url: `${url}/${name}` }])),
        ),
      });
      const requests = names.map((name) => ({
        ...restCall(name, 'echo', { text: 'hello' }),
        headers: gateway.headers,
      }));
      return cell(`Behalf, REST, ${count} servers`, gateway, { concurrency: 16, expect: 'hello', requests });
    };
    const few = await start(FEW);
    const many = await start(MANY);
    const { rows, samples } = await interleave([few, many], {
      part: 'servers',
      rounds: 5,
      ms: 2_000,
      warmMs: 4_000,
      progress,
    });
    return {
      rows,
      ratios: { servers_1k_vs_10: overRounds(samples, (at) => at(many).calls_per_s / at(few).calls_per_s) },
    };
  });
}
