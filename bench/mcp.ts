import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleave, overRounds, type Row } from './cells.ts';
import { settingsFor, startGateway } from './gatewayProcess.ts';
import { legacyCall, mcpAccess, modernCall } from './mcpCalls.ts';
import { fiberplaneCall, hubCall, requirePeers, startFiberplane, startHub } from './peerProcesses.ts';
import { onStage, openSession, rpcCall, type PartOptions } from './stage.ts';

const args = { text: 'hello' };
const expect = 'hello';

type Ratio =
  | `mcp_${'legacy' | 'modern'}_vs_${'bare_proxy' | 'mcp_hub' | 'fiberplane'}`
  | `mcp_${'legacy' | 'modern'}_added_p50_vs_proxy`;

/** One warm tool call by an MCP client of either era, beside the limit and beside other gateways. */
export async function measureMcp({ progress, environment }: PartOptions): Promise<{
  rows: Row[];
  ratios: Record<Ratio, number>;
}> {
  requirePeers();
  const dir = mkdtempSync(join(tmpdir(), 'behalf-mcp-'));
  try {
    return await onStage(async ({ processes, upstream, cell }) => {
      const url = `http://127.0.0.1:${upstream.port}`;
      const proxy = await processes.service('proxy.ts', [url]);
      const gateway = await startGateway(processes, {
        environment,
        settings: settingsFor(upstream.port, {
          legacy: { type: 'streamable-http', url: `${url}/legacy` },
          modern: { type: 'streamable-http', url: `${url}/modern` },
        }),
      });
      const access = await mcpAccess(gateway);
      const legacy = await legacyCall(access, 'legacy__echo', args);
      const modern = modernCall(access, 'modern__echo', args);
      const headers = await openSession(`${url}/legacy`);
      const rpc = { path: '/legacy', headers, body: rpcCall('echo', args) };
      const hub = await startHub(processes, dir, `${url}/legacy`, environment);
      const fiberplane = await startFiberplane(processes, dir, `${url}/legacy`, environment);

      const through = (concurrency: number) => ({
        raw: cell('direct, bare client', upstream, { concurrency, expect, requests: [rpc] }),
        proxy: cell('bare proxy', proxy, { concurrency, expect, requests: [rpc] }),
        legacy: cell('Behalf, /mcp, 2025-06-18', gateway, { concurrency, expect, requests: [legacy] }),
        modern: cell('Behalf, /mcp, 2026-07-28', gateway, { concurrency, expect, requests: [modern] }),
      });
      const many = through(16);
      const one = through(1);
      const load = { concurrency: 16, expect };
      const peers = {
        mcp_hub: cell('mcp-hub 4.2.1, REST tool call', hub, { ...load, requests: [hubCall(args)] }),
        fiberplane: cell('@fiberplane/mcp-gateway 0.7.1, MCP tool call', fiberplane, {
          ...load,
          requests: [await fiberplaneCall(fiberplane.port, args)],
        }),
      };
      const { rows, samples } = await interleave(
        [...Object.values(many), ...Object.values(peers), ...Object.values(one)],
        { part: 'mcp', rounds: 7, ms: 2_000, warmMs: 2_000, progress },
      );
      const ratiosOf = (era: 'legacy' | 'modern') => {
        const over = (other: (typeof many)['proxy']) =>
          overRounds(samples, (at) => at(many[era]).calls_per_s / at(other).calls_per_s);
        return {
          [`mcp_${era}_vs_bare_proxy`]: over(many.proxy),
          [`mcp_${era}_vs_mcp_hub`]: over(peers.mcp_hub),
          [`mcp_${era}_vs_fiberplane`]: over(peers.fiberplane),
          [`mcp_${era}_added_p50_vs_proxy`]: overRounds(
            samples,
            (at) => (at(one[era]).p50_ms - at(one.raw).p50_ms) / (at(one.proxy).p50_ms - at(one.raw).p50_ms),
          ),
        };
      };
      return { rows, ratios: { ...ratiosOf('legacy'), ...ratiosOf('modern') } as Record<Ratio, number> };
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
