import { interleave, medianOverRounds, type Cell, type BenchRow } from './cells.ts';
import { createRestCall, createSettings, startBenchGateway } from './gatewayProcess.ts';
import type { LoadJob, LoadResult } from './loadJob.ts';
import { withBenchRig, waitUntil, type PartOptions } from './rig.ts';

const HEALTHY_SERVERS = 9;
const TIMEOUT_MS = 5_000;

/** Measures whether callers of nine servers are affected if a tenth never responds. */
export async function measureHang({ progress, environment }: PartOptions): Promise<{
  rows: BenchRow[];
  ratios: Record<'hang_p99_ratio', number>;
  counts: Record<'hanging_calls', number>;
}> {
  return withBenchRig(async ({ processes, upstream, createCell }) => {
    const url = `http://127.0.0.1:${upstream.port}/legacy`;
    const names = Array.from({ length: HEALTHY_SERVERS + 1 }, (_, i) => `s${i}`);
    const gateway = await startBenchGateway(processes, {
      environment,
      settings: createSettings(
        upstream.port,
        Object.fromEntries(
          names.map((name) => [
            name,
            { type: 'streamable-http', url: `${url}/${name}`, timeout: TIMEOUT_MS },
          ]),
        ),
      ),
    });
    const { headers, port } = gateway;
    await waitUntil('every server answers', async () => {
      const responses = await Promise.all(
        names.map(async (name) => {
          const { path, body } = createRestCall(name, 'echo', { text: 'hello' });
          const response = await fetch(`http://127.0.0.1:${port}${path}`, {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json' },
            body,
          });
          return response.ok;
        }),
      );
      return responses.every(Boolean);
    });

    const requests = names
      .slice(0, HEALTHY_SERVERS)
      .map((name) => ({ ...createRestCall(name, 'echo', { text: 'hello' }), headers }));
    const load = { concurrency: 16, expectedText: 'hello', requests };
    const baselineCell = createCell('nine servers', gateway, load);
    const healthyCell = createCell('nine servers while the tenth hangs', gateway, load);
    const hangingWorker = processes.startWorker('load.ts');
    const hangingJob: Omit<LoadJob, 'ms'> = {
      port,
      concurrency: 16,
      // Each call ends with a gateway error. Immediate errors are not repeated at full speed.
      expectedText: '',
      status: 'any',
      pauseMs: 1_000,
      requests: [{ ...createRestCall(`s${HEALTHY_SERVERS}`, 'hang', {}), headers }],
    };
    let hangingCalls = 0;
    const withHangingCell: Cell = {
      ...healthyCell,
      async run(ms) {
        const background = hangingWorker.runJob<LoadResult>({ ...hangingJob, ms });
        // Let the hanging calls arrive first.
        await new Promise((resolve) => setTimeout(resolve, 200));
        const result = await healthyCell.run(ms);
        hangingCalls += (await background).calls;
        return result;
      },
    };
    const { rows, samples } = await interleave([baselineCell, withHangingCell], {
      part: 'hang',
      rounds: 7,
      ms: 3_000,
      warmMs: 1_500,
      progress,
    });
    return {
      rows,
      ratios: {
        hang_p99_ratio: medianOverRounds(
          samples,
          (resultOf) => resultOf(withHangingCell).p99_ms / resultOf(baselineCell).p99_ms,
        ),
      },
      counts: { hanging_calls: hangingCalls },
    };
  });
}
