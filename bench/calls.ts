import { interleave, overRounds, type Cell, type Row } from './cells.ts';
import type { ComposedJob } from './composed.ts';
import type { DirectJob } from './direct.ts';
import { restCall, settingsFor, startGateway } from './gatewayProcess.ts';
import type { LoadResult } from './loadJob.ts';
import { onStage, openSession, rpcCall, type PartOptions } from './stage.ts';

const args = { text: 'hello' };
const expect = 'hello';

/** One warm tool call: directly, through the limit, and through us by every way in. */
export async function measureCalls({ progress, environment }: PartOptions): Promise<{
  rows: Row[];
  ratios: Record<'rest_vs_bare_proxy' | 'calltool_vs_direct' | 'added_p50_vs_proxy', number>;
}> {
  return onStage(async ({ processes, upstream, cell }) => {
    const url = `http://127.0.0.1:${upstream.port}`;
    const proxy = await processes.service('proxy.ts', [url]);
    const gateway = await startGateway(processes, {
      environment,
      settings: settingsFor(upstream.port, { bench: { type: 'streamable-http', url: `${url}/legacy` } }),
    });
    const direct = processes.worker('direct.ts');
    const composed = processes.worker('composed.ts');
    const headers = await openSession(`${url}/legacy`);
    const rpc = { path: '/legacy', headers, body: rpcCall('echo', args) };
    const rest = { ...restCall('bench', 'echo', args), headers: gateway.headers };

    const http = (concurrency: number) => ({
      raw: cell('direct, bare client', upstream, { concurrency, expect, requests: [rpc] }),
      proxy: cell('bare proxy', proxy, { concurrency, expect, requests: [rpc] }),
      rest: cell('Behalf, REST', gateway, { concurrency, expect, requests: [rest] }),
    });
    const many = http(16);
    const one = http(1);
    const sdk: Cell = {
      name: 'direct, SDK client over our fetch',
      concurrency: 16,
      pid: direct.pid,
      run: (ms) =>
        direct.ask<LoadResult>({
          kind: 'kept',
          port: upstream.port,
          concurrency: 16,
          ms,
        } satisfies DirectJob),
    };
    const inProcess: Cell = {
      name: 'Behalf, callTool in process',
      concurrency: 16,
      pid: composed.pid,
      run: (ms) =>
        composed.ask<LoadResult>({
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
    const fresh: Cell = {
      name: 'fresh connection per call, SDK client',
      concurrency: 16,
      pid: direct.pid,
      run: (ms) =>
        direct.ask<LoadResult>({
          kind: 'fresh',
          port: upstream.port,
          concurrency: 16,
          ms,
        } satisfies DirectJob),
    };
    const { rows, samples } = await interleave(
      [many.raw, many.proxy, many.rest, sdk, inProcess, fresh, one.raw, one.proxy, one.rest],
      { part: 'calls', rounds: 7, ms: 2_000, warmMs: 2_000, progress },
    );
    return {
      rows,
      ratios: {
        rest_vs_bare_proxy: overRounds(
          samples,
          (at) => at(many.rest).calls_per_s / at(many.proxy).calls_per_s,
        ),
        calltool_vs_direct: overRounds(samples, (at) => at(inProcess).calls_per_s / at(sdk).calls_per_s),
        added_p50_vs_proxy: overRounds(
          samples,
          (at) => (at(one.rest).p50_ms - at(one.raw).p50_ms) / (at(one.proxy).p50_ms - at(one.raw).p50_ms),
        ),
      },
    };
  });
}
