import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleave, medianOverRounds, type BenchRow } from './cells.ts';
import { createSettings, startBenchGateway } from './gatewayProcess.ts';
import { createLegacyCall, createMcpAccess, createModernCall } from './mcpCalls.ts';
import {
  createFiberplaneCall,
  createHubCall,
  requirePeers,
  startFiberplane,
  startHub,
} from './peerProcesses.ts';
import { withBenchRig, openSession, createRpcCall, type PartOptions } from './rig.ts';

const args = { text: 'hello' };
const expectedText = 'hello';

type Ratio =
  | `mcp_${'legacy' | 'modern'}_vs_${'bare_proxy' | 'mcp_hub' | 'fiberplane'}`
  | `mcp_${'legacy' | 'modern'}_added_p50_vs_proxy`;

/** A warm tool call by an MCP client of either era, compared with the bare proxy and other gateways. */
export async function measureMcp({ progress, environment }: PartOptions): Promise<{
  rows: BenchRow[];
  ratios: Record<Ratio, number>;
}> {
  requirePeers();
  const directory = mkdtempSync(join(tmpdir(), 'behalf-mcp-'));
  try {
    return await withBenchRig(async ({ processes, upstream, createCell }) => {
      const url = `http://127.0.0.1:${upstream.port}`;
      const proxy = await processes.startService('proxy.ts', [url]);
      const gateway = await startBenchGateway(processes, {
        environment,
        settings: createSettings(upstream.port, {
          legacy: { type: 'streamable-http', url: `${url}/legacy` },
          modern: { type: 'streamable-http', url: `${url}/modern` },
        }),
      });
      const access = await createMcpAccess(gateway);
      const legacy = await createLegacyCall(access, 'legacy__echo', args);
      const modern = createModernCall(access, 'modern__echo', args);
      const headers = await openSession(`${url}/legacy`);
      const rpc = { path: '/legacy', headers, body: createRpcCall('echo', args) };
      const hub = await startHub(processes, directory, `${url}/legacy`, environment);
      const fiberplane = await startFiberplane(processes, directory, `${url}/legacy`, environment);

      const cellsThroughGateway = (concurrency: number) => ({
        raw: createCell('direct, bare client', upstream, { concurrency, expectedText, requests: [rpc] }),
        proxy: createCell('bare proxy', proxy, { concurrency, expectedText, requests: [rpc] }),
        legacy: createCell('Behalf, /mcp, 2025-06-18', gateway, {
          concurrency,
          expectedText,
          requests: [legacy],
        }),
        modern: createCell('Behalf, /mcp, 2026-07-28', gateway, {
          concurrency,
          expectedText,
          requests: [modern],
        }),
      });
      const concurrent = cellsThroughGateway(16);
      const sequential = cellsThroughGateway(1);
      const load = { concurrency: 16, expectedText };
      const peers = {
        mcp_hub: createCell('mcp-hub 4.2.1, REST tool call', hub, {
          ...load,
          requests: [createHubCall(args)],
        }),
        fiberplane: createCell('@fiberplane/mcp-gateway 0.7.1, MCP tool call', fiberplane, {
          ...load,
          requests: [await createFiberplaneCall(fiberplane.port, args)],
        }),
      };
      const { rows, samples } = await interleave(
        [...Object.values(concurrent), ...Object.values(peers), ...Object.values(sequential)],
        { part: 'mcp', rounds: 7, ms: 2_000, warmMs: 2_000, progress },
      );
      const computeRatios = (era: 'legacy' | 'modern') => {
        const compareWith = (otherCell: (typeof concurrent)['proxy']) =>
          medianOverRounds(
            samples,
            (resultOf) => resultOf(concurrent[era]).calls_per_s / resultOf(otherCell).calls_per_s,
          );
        return {
          [`mcp_${era}_vs_bare_proxy`]: compareWith(concurrent.proxy),
          [`mcp_${era}_vs_mcp_hub`]: compareWith(peers.mcp_hub),
          [`mcp_${era}_vs_fiberplane`]: compareWith(peers.fiberplane),
          [`mcp_${era}_added_p50_vs_proxy`]: medianOverRounds(
            samples,
            (resultOf) =>
              (resultOf(sequential[era]).p50_ms - resultOf(sequential.raw).p50_ms) /
              (resultOf(sequential.proxy).p50_ms - resultOf(sequential.raw).p50_ms),
          ),
        };
      };
      return {
        rows,
        ratios: { ...computeRatios('legacy'), ...computeRatios('modern') } as Record<Ratio, number>,
      };
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
