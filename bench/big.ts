import { interleave, overRounds, type Row } from './cells.ts';
import { restCall, settingsFor, startGateway } from './gatewayProcess.ts';
import { onStage, openSession, rpcCall, type PartOptions } from './stage.ts';

/** A tool result of 1 MB, through the limit and through us. */
export async function measureBig({ progress, environment }: PartOptions): Promise<{
  rows: Row[];
  ratios: Record<'result_1mb_vs_proxy', number>;
}> {
  return onStage(async ({ processes, upstream, cell }) => {
    const url = `http://127.0.0.1:${upstream.port}`;
    const proxy = await processes.service('proxy.ts', [url]);
    const gateway = await startGateway(processes, {
      environment,
      settings: settingsFor(upstream.port, { bench: { type: 'streamable-http', url: `${url}/legacy` } }),
    });
    const load = { concurrency: 16, expect: 'x'.repeat(1_000) };
    const headers = await openSession(`${url}/legacy`);
    const rpc = { path: '/legacy', headers, body: rpcCall('big', {}) };
    const rest = { ...restCall('bench', 'big', {}), headers: gateway.headers };
    const throughProxy = cell('bare proxy, 1 MB', proxy, { ...load, requests: [rpc] });
    const throughUs = cell('Behalf, REST, 1 MB', gateway, { ...load, requests: [rest] });
    const { rows, samples } = await interleave([throughProxy, throughUs], {
      part: 'big',
      rounds: 5,
      ms: 2_500,
      warmMs: 2_000,
      progress,
    });
    return {
      rows,
      ratios: {
        result_1mb_vs_proxy: overRounds(
          samples,
          (at) => at(throughUs).calls_per_s / at(throughProxy).calls_per_s,
        ),
      },
    };
  });
}
