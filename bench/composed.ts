import { callTool, type UserPrincipal } from '@behalf/gateway';
import { runCallLoop, serveJobs } from './callLoop.ts';
import {
  createBenchPrincipal,
  composeGateway,
  type ComposedGateway,
  type GatewayShape,
} from './composeGateway.ts';

/** `call`: a loop of calls, users and servers in turn. `open`: each user calls once; gives the memory afterwards. */
export interface ComposedJob extends GatewayShape {
  do: 'call' | 'open';
  users: number;
  concurrency: number;
  ms: number;
}

export interface OpenResult {
  rss_kb: number;
  /** What lives on the heap: steadier than what the system has given the process. */
  heap_kb: number;
}

/** The gateway in process, without a door: a caller of `callTool` and nothing else. A process of its own. */
const composedByShape = new Map<string, ComposedGateway>();
const principals: UserPrincipal[] = [];
// Whoever calls in process decides for itself when to give up; these callers never do.
const { signal } = new AbortController();

serveJobs(async ({ do: job, users, concurrency, ms, ...shape }: ComposedJob) => {
  const key = JSON.stringify(shape);
  const composed = composedByShape.get(key) ?? composeGateway(shape);
  composedByShape.set(key, composed);
  for (let i = principals.length; i < users; i += 1) principals.push(createBenchPrincipal(i));
  const { parts, names } = composed;

  async function callOnce(index: number): Promise<unknown> {
    const principal = principals[index % users] as UserPrincipal;
    const server = names[index % names.length] ?? '';
    const outcome = await callTool(
      parts,
      { server, tool: 'echo', args: { text: principal.userId } },
      { principal, door: 'rest', signal },
    );
    return 'result' in outcome ? outcome.result : outcome;
  }

  if (job === 'call') return runCallLoop({ concurrency, ms, expectedText: 'u' }, callOnce);
  let index = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (index < users) await callOnce(index++);
    }),
  );
  return measureMemory();
});

/** After two full collections, with a pause in between for what is freed a turn later. */
async function measureMemory(): Promise<OpenResult> {
  for (let i = 0; i < 2; i += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss_kb: rss / 1024, heap_kb: (heapUsed + external) / 1024 };
}
