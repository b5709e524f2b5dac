import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { runCallLoop, serveJobs } from './callLoop.ts';
import { createBenchEgress } from './egress.ts';

export interface DirectJob {
  /** `kept`: one client for all calls. `fresh`: a new client, connection and session for each call. */
  kind: 'cached' | 'fresh';
  port: number;
  concurrency: number;
  ms: number;
}

let cachedClient: Promise<Client> | undefined;

/** The MCP SDK with Behalf's fetch and without a gateway. A separate process. */
serveJobs(async ({ kind, port, concurrency, ms }: DirectJob) => {
  const openClient = () => connect(port);
  const callEcho = async (client: Client) => client.callTool({ name: 'echo', arguments: { text: 'hello' } });
  return runCallLoop({ concurrency, ms, expectedText: 'hello' }, async () => {
    if (kind === 'cached') return callEcho(await (cachedClient ??= openClient()));
    const client = await openClient();
    try {
      return await callEcho(client);
    } finally {
      await client.close();
    }
  });
});

const egressByPort = new Map<number, ReturnType<typeof createBenchEgress>>();

async function connect(port: number): Promise<Client> {
  const egress = egressByPort.get(port) ?? createBenchEgress(port);
  egressByPort.set(port, egress);
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/legacy`), {
      fetch: egress.fetchFor({ audience: 'yaml-server' }),
    }),
  );
  return client;
}
