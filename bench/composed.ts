import { callTool, type UserPrincipal } from '@behalf/gateway';
import { callLoop, serveJobs } from './callLoop.ts';
import { benchPrincipal, composeParts, type Composed, type Shape } from './composedParts.ts';

/** `call`: a loop of calls, users and servers in turn. `open`: each user calls once; gives the memory afterwards. */
export interface ComposedJob extends Shape {
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
const made = new Map<string, Composed>();
const principals: UserPrincipal[] = [];
// Whoever calls in process decides for itself when to give up; these callers never do.
const { signal } = new AbortController();

serveJobs(async ({ do: what, users, concurrency, ms, ...shape }: ComposedJob) => {
  const key = JSON.stringify(shape);
  const composed = made.get(key) ?? composeParts(shape);
  made.set(key, composed);
  for (let i = principals.length; i < users; i += 1) principals.push(benchPrincipal(i));
  const { parts, names } = composed;

  async function call(turn: number): Promise<unknown> {
    const principal = principals[turn % users] as UserPrincipal;
    const server = names[turn % names.length] ?? '';
    const answer = await callTool(
      parts,
      { server, tool: 'echo', args: { text: principal.userId } },
      { principal, door: 'rest', signal },
    );
    return answer.result;
  }

  if (what === 'call') return callLoop({ concurrency, ms, expect: 'u' }, call);
  let turn = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (turn < users) await call(turn++);
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
