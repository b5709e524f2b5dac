import { largeCatalog, tuningQueries, evaluationQueries } from '@behalf/testkit/catalog';
import { interleave, round, type Row } from './cells.ts';
import { settingsFor, startGateway } from './gatewayProcess.ts';
import type { LoadRequest } from './loadJob.ts';
import { mcpAccess, modernCall, modernRequest, type McpAccess } from './mcpCalls.ts';
import { onStage, untilGood, type PartOptions } from './stage.ts';

type Counts = Record<
  | 'list_1k_bytes'
  | 'list_1k_search_bytes'
  | 'search_1k_answer_bytes'
  | 'search_1k_first_ms'
  | 'search_1k_p50_ms'
  | 'search_1k_found_of_20',
  number
>;

/** A thousand tools, listed and searched: what a model is shown, and how long a search takes. */
export async function measureSearch({ progress, environment }: PartOptions): Promise<{
  rows: Row[];
  counts: Counts;
}> {
  return onStage(async ({ processes, upstream, cell }) => {
    const servers = largeCatalog();
    const url = (name: string) => `http://127.0.0.1:${upstream.port}/legacy/catalog/${name}`;
    const gateway = await startGateway(processes, {
      environment,
      settings: settingsFor(
        upstream.port,
        Object.fromEntries(servers.map(({ name }) => [name, { type: 'streamable-http', url: url(name) }])),
      ),
    });
    const plain = await mcpAccess(gateway);
    const searching = { ...plain, url: `${plain.url}?tools=search` };
    let whole = 0;
    await untilGood('all servers are listed', async () => {
      whole = 0;
      let cursor: unknown;
      do {
        const answer = await ask(
          plain,
          modernRequest(plain, 'tools/list', cursor === undefined ? {} : { cursor }),
        );
        if (answer.text.includes('behalf/servers')) return false;
        whole += Buffer.byteLength(answer.text);
        cursor = answer.result['nextCursor'];
      } while (cursor !== undefined);
      return true;
    });
    const two = await ask(searching, modernRequest(searching, 'tools/list', {}));
    const searchFor = (query: string) => modernCall(searching, 'search_tools', { query });
    const began = performance.now();
    await ask(searching, searchFor('anything at all'));
    const first = performance.now() - began;
    let found = 0;
    let bytes = 0;
    for (const { requestText: asked, server, tool } of evaluationQueries) {
      const { text } = await ask(searching, searchFor(asked));
      bytes += Buffer.byteLength(text);
      if (text.includes(`"name":"${server}__${tool}"`)) found += 1;
    }
    const requests = [...evaluationQueries, ...tuningQueries].map(({ requestText: asked }) =>
      searchFor(asked),
    );
    const one = cell('Behalf, search among 1,000 tools', gateway, {
      concurrency: 1,
      expect: 'searched',
      requests,
    });
    const many = cell('Behalf, search among 1,000 tools', gateway, {
      concurrency: 16,
      expect: 'searched',
      requests,
    });
    const { rows } = await interleave([one, many], {
      part: 'search',
      rounds: 5,
      ms: 1_000,
      warmMs: 1_000,
      progress,
    });
    return {
      rows,
      counts: {
        list_1k_bytes: whole,
        list_1k_search_bytes: Buffer.byteLength(two.text),
        search_1k_answer_bytes: Math.round(bytes / evaluationQueries.length),
        search_1k_first_ms: round(first),
        search_1k_p50_ms: rows[0]?.p50_ms.median ?? 0,
        search_1k_found_of_20: found,
      },
    };
  });
}

async function ask(
  { url }: McpAccess,
  { headers, body }: LoadRequest,
): Promise<{ text: string; result: Readonly<Record<string, unknown>> }> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const text = await answer.text();
  const { result } = JSON.parse(text) as { result?: Readonly<Record<string, unknown>> };
  if (!answer.ok || !result) throw new Error(`A bad answer: ${text.slice(0, 500)}`);
  return { text, result };
}
