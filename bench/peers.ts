import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleave, type Row } from './cells.ts';
import { fiberplaneCall, hubCall, requirePeers, startFiberplane, startHub } from './peerProcesses.ts';
import { onStage, type PartOptions } from './stage.ts';

/** Other gateways from npm, in front of the same upstream, under the same load. */
export async function measurePeers({ progress, environment }: PartOptions): Promise<{ rows: Row[] }> {
  requirePeers();
  const dir = mkdtempSync(join(tmpdir(), 'behalf-peers-'));
  try {
    return await onStage(async ({ processes, upstream, cell }) => {
      const url = `http://127.0.0.1:${upstream.port}/legacy`;
      const hub = await startHub(processes, dir, url, environment);
      const fiberplane = await startFiberplane(processes, dir, url, environment);
      const args = { text: 'hello' };
      const load = { concurrency: 16, expect: 'hello' };
      const { rows } = await interleave(
        [
          cell('mcp-hub 4.2.1, REST tool call', hub, { ...load, requests: [hubCall(args)] }),
          cell('@fiberplane/mcp-gateway 0.7.1, MCP tool call', fiberplane, {
            ...load,
            requests: [await fiberplaneCall(fiberplane.port, args)],
          }),
        ],
        { part: 'peers', rounds: 5, ms: 2_000, warmMs: 2_000, progress },
      );
      return { rows };
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
