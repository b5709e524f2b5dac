import { interleave, type Cell, type Row } from './cells.ts';
import { settingsFor, startGateway } from './gatewayProcess.ts';
import { onStage, type PartOptions } from './stage.ts';

/** The tools a user has, over one, ten and fifty servers. */
export async function measureLists({ progress, environment }: PartOptions): Promise<{ rows: Row[] }> {
  return onStage(async ({ processes, upstream, cell }) => {
    const cells: Cell[] = [];
    for (const count of [1, 10, 50]) {
      const names = Array.from({ length: count }, (_, i) => `s${i}`);
      const url = `http://127.0.0.1:${upstream.port}/legacy`;
      const gateway = await startGateway(processes, {
        environment,
        settings: settingsFor(
          upstream.port,
          Object.fromEntries(names.map((name) => [name, { type: 'streamable-http', url: `${url}/${name}` }])),
        ),
      });
      const request = { method: 'GET', path: '/api/mcp/tools', headers: gateway.headers, body: '' } as const;
      const expect = `"s${count - 1}"`;
      for (const concurrency of [1, 16]) {
        const name = `Behalf, list of tools over ${count} server${count === 1 ? '' : 's'}`;
        cells.push(cell(name, gateway, { concurrency, expect, requests: [request] }));
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
