import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleave, type BenchRow } from './cells.ts';
import {
  createFiberplaneCall,
  createHubCall,
  requirePeers,
  startFiberplane,
  startHub,
} from './peerProcesses.ts';
import { withBenchRig, type PartOptions } from './rig.ts';

/** Other gateways from npm with the same upstream and load. */
export async function measurePeers({ progress, environment }: PartOptions): Promise<{ rows: BenchRow[] }> {
  requirePeers();
  const directory = mkdtempSync(join(tmpdir(), 'behalf-peers-'));
  try {
    return await withBenchRig(async ({ processes, upstream, createCell }) => {
      const url = `http://127.0.0.1:${upstream.port}/legacy`;
      const hub = await startHub(processes, directory, url, environment);
      const fiberplane = await startFiberplane(processes, directory, url, environment);
      const args = { text: 'hello' };
      const load = { concurrency: 16, expectedText: 'hello' };
      const { rows } = await interleave(
        [
          createCell('mcp-hub 4.2.1, REST tool call', hub, { ...load, requests: [createHubCall(args)] }),
          createCell('@fiberplane/mcp-gateway 0.7.1, MCP tool call', fiberplane, {
            ...load,
            requests: [await createFiberplaneCall(fiberplane.port, args)],
          }),
        ],
        { part: 'peers', rounds: 5, ms: 2_000, warmMs: 2_000, progress },
      );
      return { rows };
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
