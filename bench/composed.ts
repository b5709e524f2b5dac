import { callTool, type UserPrincipal } from '@behalf/gateway';
import { runCallLoop, serveJobs } from './callLoop.ts';
import {
  createBenchPrincipal,
  composeGateway,
  type ComposedGateway,
  type GatewayShape,
} from './composeGateway.ts';

/** `call`: runs a call loop over users and servers. `open`: each user calls once; returns the memory usage. */
export interface ComposedJob extends GatewayShape {
  do: 'call' | 'open';
  users: number;
  concurrency: number;
  ms: number;
}

export interface OpenResult {
  rss_kb: number;
  /** The used heap, which varies less than the resident memory. */
  heap_kb: number;
}

/** The gateway in process, called through `callTool`. A separate process. */
const composedByShape = new Map<string, ComposedGateway>();
const principals: UserPrincipal[] = [];
// Callers in process provide their own timeout. These never abort.
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

/** Runs two full garbage collections, with a pause for objects that are freed asynchronously. */
async function measureMemory(): Promise<OpenResult> {
  for (let i = 0; i < 2; i += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss_kb: rss / 1024, heap_kb: (heapUsed + external) / 1024 };
}
