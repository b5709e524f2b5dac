import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { callLoop, serveJobs } from './callLoop.ts';
import { benchEgress } from './egress.ts';

export interface DirectJob {
  /** `kept`: one client for all calls. `fresh`: a client, hand-shake and session for each call. */
  kind: 'kept' | 'fresh';
  port: number;
  concurrency: number;
  ms: number;
}

let kept: Promise<Client> | undefined;

/** The "direct client": the MCP SDK over our own fetch, without a gateway. A process of its own. */
serveJobs(async ({ kind, port, concurrency, ms }: DirectJob) => {
  const open = () => connect(port);
  const call = async (client: Client) => client.callTool({ name: 'echo', arguments: { text: 'hello' } });
  return callLoop({ concurrency, ms, expect: 'hello' }, async () => {
    if (kind === 'kept') return call(await (kept ??= open()));
    const client = await open();
    try {
      return await call(client);
    } finally {
      await client.close();
    }
  });
});

const egresses = new Map<number, ReturnType<typeof benchEgress>>();

async function connect(port: number): Promise<Client> {
  const egress = egresses.get(port) ?? benchEgress(port);
  egresses.set(port, egress);
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/legacy`), {
      fetch: egress.fetchFor({ audience: 'yaml-server' }),
    }),
  );
  return client;
}
