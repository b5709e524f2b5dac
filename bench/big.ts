import { interleave, medianOverRounds, type BenchRow } from './cells.ts';
import { createRestCall, createSettings, startBenchGateway } from './gatewayProcess.ts';
import { withBenchRig, openSession, createRpcCall, type PartOptions } from './rig.ts';

/** A tool result of 1 MB, through the bare proxy and through Behalf. */
export async function measureBig({ progress, environment }: PartOptions): Promise<{
  rows: BenchRow[];
  ratios: Record<'result_1mb_vs_proxy', number>;
}> {
  return withBenchRig(async ({ processes, upstream, createCell }) => {
    const url = `http://127.0.0.1:${upstream.port}`;
    const proxy = await processes.startService('proxy.ts', [url]);
    const gateway = await startBenchGateway(processes, {
      environment,
      settings: createSettings(upstream.port, { bench: { type: 'streamable-http', url: `${url}/legacy` } }),
    });
    const load = { concurrency: 16, expectedText: 'x'.repeat(1_000) };
    const headers = await openSession(`${url}/legacy`);
    const rpc = { path: '/legacy', headers, body: createRpcCall('big', {}) };
    const rest = { ...createRestCall('bench', 'big', {}), headers: gateway.headers };
    const throughProxy = createCell('bare proxy, 1 MB', proxy, { ...load, requests: [rpc] });
    const throughGateway = createCell('Behalf, REST, 1 MB', gateway, { ...load, requests: [rest] });
    const { rows, samples } = await interleave([throughProxy, throughGateway], {
      part: 'big',
      rounds: 5,
      ms: 2_500,
      warmMs: 2_000,
      progress,
    });
    return {
      rows,
      ratios: {
        result_1mb_vs_proxy: medianOverRounds(
          samples,
          (resultOf) => resultOf(throughGateway).calls_per_s / resultOf(throughProxy).calls_per_s,
        ),
      },
    };
  });
}
