import type { Cell } from './cells.ts';
import type { LoadJob, LoadRequest, LoadResult } from './loadJob.ts';
import { createProcesses, type Processes, type Service, type Worker } from './processes.ts';

export interface PartOptions {
  progress: (line: string) => void;
  environment: NodeJS.ProcessEnv;
}

/** What most parts need: the upstream, the generator, and a factory for cells. */
export interface BenchRig {
  readonly processes: Processes;
  readonly upstream: Service;
  readonly load: Worker;
  readonly createCell: (
    name: string,
    target: { pid: number; port: number },
    job: Pick<LoadJob, 'concurrency' | 'expectedText' | 'minCalls'> & { requests: readonly LoadRequest[] },
  ) => Cell;
}

/** Runs `work` with new processes and stops all of them afterwards. */
export async function withBenchRig<T>(work: (rig: BenchRig) => Promise<T>): Promise<T> {
  const processes = createProcesses();
  try {
    const upstream = await processes.startService('upstream.ts');
    const load = processes.startWorker('load.ts');
    return await work({
      processes,
      upstream,
      load,
      createCell: (name, { pid, port }, job) => ({
        name,
        concurrency: job.concurrency,
        pid,
        run: (ms) => load.runJob<LoadResult>({ port, ms, ...job } satisfies LoadJob),
      }),
    });
  } finally {
    await processes.stopAll();
  }
}

/** A JSON-RPC tool call, as all clients here send it. */
export function createRpcCall(tool: string, args: object): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: tool, arguments: args },
  });
}

/** Opens a legacy session and returns the headers of its requests. */
export async function openSession(
  url: string,
  extraHeaders: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>> {
  const headers = {
    ...extraHeaders,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const response = await fetch(url, { method: 'POST', headers, body });
  const session = response.headers.get('mcp-session-id');
  if (!response.ok || session === null) throw new Error(`${url} gave no session: ${await response.text()}`);
  await response.text();
  return {
    accept: headers.accept,
    'mcp-session-id': session,
    'mcp-protocol-version': params.protocolVersion,
  };
}

/** Repeats a request until the response is correct: a new server may still be connecting. */
export async function waitUntil(
  description: string,
  probe: () => Promise<boolean>,
  timeoutMs = 20_000,
): Promise<void> {
  for (const end = Date.now() + timeoutMs; Date.now() < end;) {
    if (await probe().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Not within ${timeoutMs} ms: ${description}`);
}
