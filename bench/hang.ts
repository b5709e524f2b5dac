import { interleave, overRounds, type Cell, type Row } from './cells.ts';
import { restCall, settingsFor, startGateway } from './gatewayProcess.ts';
import type { LoadJob, LoadResult } from './loadJob.ts';
import { onStage, untilGood, type PartOptions } from './stage.ts';

const HEALTHY = 9;
const TIMEOUT_MS = 5_000;

/** Ten servers, one of which never answers: do the callers of the nine notice? */
export async function measureHang({ progress, environment }: PartOptions): Promise<{
  rows: Row[];
  ratios: Record<'hang_p99_ratio', number>;
  counts: Record<'hanging_calls', number>;
}> {
  return onStage(async ({ processes, upstream, cell }) => {
    const url = `http://127.0.0.1:${upstream.port}/legacy`;
    const names = Array.from({ length: HEALTHY + 1 }, (_, i) => `s${i}`);
    const gateway = await startGateway(processes, {
      environment,
      settings: settingsFor(
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
    await untilGood('every server answers', async () => {
      const answers = await Promise.all(
        names.map(async (name) => {
          const { path, body } = restCall(name, 'echo', { text: 'hello' });
          const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json' },
            body,
          });
          return answer.ok;
        }),
      );
      return answers.every(Boolean);
    });

    const requests = names
      .slice(0, HEALTHY)
      .map((name) => ({ ...restCall(name, 'echo', { text: 'hello' }), headers }));
    const load = { concurrency: 16, expect: 'hello', requests };
    const without = cell('nine servers', gateway, load);
    const alone = cell('nine servers while the tenth hangs', gateway, load);
    const hanging = processes.worker('load.ts');
    const hang: Omit<LoadJob, 'ms'> = {
      port,
      concurrency: 16,
      // Each ends in our own error; a refusal that comes at once is not hammered on.
      expect: '',
      status: 'any',
      pauseMs: 1_000,
      requests: [{ ...restCall(`s${HEALTHY}`, 'hang', {}), headers }],
    };
    let hangingCalls = 0;
    const beside: Cell = {
      ...alone,
      async run(ms) {
        const background = hanging.ask<LoadResult>({ ...hang, ms });
        // Let them arrive first.
        await new Promise((resolve) => setTimeout(resolve, 200));
        const result = await alone.run(ms);
        hangingCalls += (await background).calls;
        return result;
      },
    };
    const { rows, samples } = await interleave([without, beside], {
      part: 'hang',
      rounds: 7,
      ms: 3_000,
      warmMs: 1_500,
      progress,
    });
    return {
      rows,
      ratios: { hang_p99_ratio: overRounds(samples, (at) => at(beside).p99_ms / at(without).p99_ms) },
      counts: { hanging_calls: hangingCalls },
    };
  });
}
