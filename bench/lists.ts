import { interleave, type Cell, type BenchRow } from './cells.ts';
import { createSettings, startBenchGateway } from './gatewayProcess.ts';
import { withBenchRig, type PartOptions } from './rig.ts';

/** Lists a user's tools with one, ten and fifty servers. */
export async function measureLists({ progress, environment }: PartOptions): Promise<{ rows: BenchRow[] }> {
  return withBenchRig(async ({ processes, upstream, createCell }) => {
    const cells: Cell[] = [];
    for (const count of [1, 10, 50]) {
      const names = Array.from({ length: count }, (_, i) => `s${i}`);
      const upstreamUrl = `http://127.0.0.1:${upstream.port}/legacy`;
      const gateway = await startBenchGateway(processes, {
        environment,
        settings: createSettings(
          upstream.port,
          Object.fromEntries(
            names.map((name) => [name, { type: 'streamable-http', url: `${upstreamUrl}/${name}` }]),
          ),
        ),
      });
      const request = { method: 'GET', path: '/api/mcp/tools', headers: gateway.headers, body: '' } as const;
      const expectedText = `"s${count - 1}"`;
      for (const concurrency of [1, 16]) {
        const name = `Behalf, list of tools over ${count} server${count === 1 ? '' : 's'}`;
        cells.push(createCell(name, gateway, { concurrency, expectedText, requests: [request] }));
      }
    }
    const { rows } = await interleave(cells, {
      part: 'lists',
      rounds: 5,
      ms: 1_000,
      warmMs: 1_000,
      progress,
    });
    return { rows };
  });
}
