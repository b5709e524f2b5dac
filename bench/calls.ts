import { interleave, medianOverRounds, type Cell, type BenchRow } from './cells.ts';
import type { ComposedJob } from './composed.ts';
import type { DirectJob } from './direct.ts';
import { createRestCall, createSettings, startBenchGateway } from './gatewayProcess.ts';
import type { LoadResult } from './loadJob.ts';
import { withBenchRig, openSession, createRpcCall, type PartOptions } from './rig.ts';

const args = { text: 'hello' };
const expectedText = 'hello';

/** A warm tool call: directly, through the bare proxy, and through each interface of Behalf. */
export async function measureCalls({ progress, environment }: PartOptions): Promise<{
  rows: BenchRow[];
  ratios: Record<'rest_vs_bare_proxy' | 'calltool_vs_direct' | 'added_p50_vs_proxy', number>;
}> {
  return withBenchRig(async ({ processes, upstream, createCell }) => {
    const url = `http://127.0.0.1:${upstream.port}`;
    const proxy = await processes.startService('proxy.ts', [url]);
    const gateway = await startBenchGateway(processes, {
      environment,
      settings: createSettings(upstream.port, { bench: { type: 'streamable-http', url: `${url}/legacy` } }),
    });
    const directWorker = processes.startWorker('direct.ts');
    const composedWorker = processes.startWorker('composed.ts');
    const headers = await openSession(`${url}/legacy`);
    const rpc = { path: '/legacy', headers, body: createRpcCall('echo', args) };
    const rest = { ...createRestCall('bench', 'echo', args), headers: gateway.headers };

    const httpCells = (concurrency: number) => ({
      raw: createCell('direct, bare client', upstream, { concurrency, expectedText, requests: [rpc] }),
      proxy: createCell('bare proxy', proxy, { concurrency, expectedText, requests: [rpc] }),
      rest: createCell('Behalf, REST', gateway, { concurrency, expectedText, requests: [rest] }),
    });
    const concurrent = httpCells(16);
    const sequential = httpCells(1);
    const sdkCell: Cell = {
      name: 'direct, SDK client over our fetch',
      concurrency: 16,
      pid: directWorker.pid,
      run: (ms) =>
        directWorker.runJob<LoadResult>({
          kind: 'cached',
          port: upstream.port,
          concurrency: 16,
          ms,
        } satisfies DirectJob),
    };
    const inProcess: Cell = {
      name: 'Behalf, callTool in process',
      concurrency: 16,
      pid: composedWorker.pid,
      run: (ms) =>
        composedWorker.runJob<LoadResult>({
          do: 'call',
          port: upstream.port,
          era: 'legacy',
          scope: 'app',
          users: 1,
          servers: 1,
          concurrency: 16,
          ms,
        } satisfies ComposedJob),
    };
    const freshClient: Cell = {
      name: 'fresh connection per call, SDK client',
      concurrency: 16,
      pid: directWorker.pid,
      run: (ms) =>
        directWorker.runJob<LoadResult>({
          kind: 'fresh',
          port: upstream.port,
          concurrency: 16,
          ms,
        } satisfies DirectJob),
    };
    const { rows, samples } = await interleave(
      [
        concurrent.raw,
        concurrent.proxy,
        concurrent.rest,
        sdkCell,
        inProcess,
        freshClient,
        sequential.raw,
        sequential.proxy,
        sequential.rest,
      ],
      { part: 'calls', rounds: 7, ms: 2_000, warmMs: 2_000, progress },
    );
    return {
      rows,
      ratios: {
        rest_vs_bare_proxy: medianOverRounds(
          samples,
          (resultOf) => resultOf(concurrent.rest).calls_per_s / resultOf(concurrent.proxy).calls_per_s,
        ),
        calltool_vs_direct: medianOverRounds(
          samples,
          (resultOf) => resultOf(inProcess).calls_per_s / resultOf(sdkCell).calls_per_s,
        ),
        added_p50_vs_proxy: medianOverRounds(
          samples,
          (resultOf) =>
            (resultOf(sequential.rest).p50_ms - resultOf(sequential.raw).p50_ms) /
            (resultOf(sequential.proxy).p50_ms - resultOf(sequential.raw).p50_ms),
        ),
      },
    };
  });
}
