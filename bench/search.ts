import { largeCatalog, tuningQueries, evaluationQueries } from '@behalf/testkit/catalog';
import { interleave, roundToDigits, type BenchRow } from './cells.ts';
import { createSettings, startBenchGateway } from './gatewayProcess.ts';
import type { LoadRequest } from './loadJob.ts';
import { createMcpAccess, createModernCall, createModernRequest, type McpAccess } from './mcpCalls.ts';
import { withBenchRig, waitUntil, type PartOptions } from './rig.ts';

type Counts = Record<
  | 'list_1k_bytes'
  | 'list_1k_search_bytes'
  | 'search_1k_answer_bytes'
  | 'search_1k_first_ms'
  | 'search_1k_p50_ms'
  | 'search_1k_found_of_20',
  number
>;

/** Lists and searches a thousand tools: the response size for a model, and the duration of a search. */
export async function measureSearch({ progress, environment }: PartOptions): Promise<{
  rows: BenchRow[];
  counts: Counts;
}> {
  return withBenchRig(async ({ processes, upstream, createCell }) => {
    const servers = largeCatalog();
    const url = (name: string) => `http://127.0.0.1:${upstream.port}/legacy/catalog/${name}`;
    const gateway = await startBenchGateway(processes, {
      environment,
      settings: createSettings(
        upstream.port,
        Object.fromEntries(servers.map(({ name }) => [name, { type: 'streamable-http', url: url(name) }])),
      ),
    });
    const access = await createMcpAccess(gateway);
    const searchAccess = { ...access, url: `${access.url}?tools=search` };
    let listBytes = 0;
    await waitUntil('all servers are listed', async () => {
      listBytes = 0;
      let cursor: unknown;
      do {
        const response = await sendRequest(
          access,
          createModernRequest(access, 'tools/list', cursor === undefined ? {} : { cursor }),
        );
        if (response.text.includes('behalf/servers')) return false;
        listBytes += Buffer.byteLength(response.text);
        cursor = response.result['nextCursor'];
      } while (cursor !== undefined);
      return true;
    });
    const searchTools = await sendRequest(searchAccess, createModernRequest(searchAccess, 'tools/list', {}));
    const createSearchCall = (query: string) => createModernCall(searchAccess, 'search_tools', { query });
    const startedAt = performance.now();
    await sendRequest(searchAccess, createSearchCall('anything at all'));
    const firstSearchMs = performance.now() - startedAt;
    let foundCount = 0;
    let bytes = 0;
    for (const { requestText, server, tool } of evaluationQueries) {
      const { text } = await sendRequest(searchAccess, createSearchCall(requestText));
      bytes += Buffer.byteLength(text);
      if (text.includes(`"name":"${server}__${tool}"`)) foundCount += 1;
    }
    const requests = [...evaluationQueries, ...tuningQueries].map(({ requestText }) =>
      createSearchCall(requestText),
    );
    const sequential = createCell('Behalf, search among 1,000 tools', gateway, {
      concurrency: 1,
      expectedText: 'searched',
      requests,
    });
    const concurrent = createCell('Behalf, search among 1,000 tools', gateway, {
      concurrency: 16,
      expectedText: 'searched',
      requests,
    });
    const { rows } = await interleave([sequential, concurrent], {
      part: 'search',
      rounds: 5,
      ms: 1_000,
      warmMs: 1_000,
      progress,
    });
    return {
      rows,
      counts: {
        list_1k_bytes: listBytes,
        list_1k_search_bytes: Buffer.byteLength(searchTools.text),
        search_1k_answer_bytes: Math.round(bytes / evaluationQueries.length),
        search_1k_first_ms: roundToDigits(firstSearchMs),
        search_1k_p50_ms: rows[0]?.p50_ms.median ?? 0,
        search_1k_found_of_20: foundCount,
      },
    };
  });
}

async function sendRequest(
  { url }: McpAccess,
  { headers, body }: LoadRequest,
): Promise<{ text: string; result: Readonly<Record<string, unknown>> }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  const { result } = JSON.parse(text) as { result?: Readonly<Record<string, unknown>> };
  if (!response.ok || !result) throw new Error(`A bad answer: ${text.slice(0, 500)}`);
  return { text, result };
}
