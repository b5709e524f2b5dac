import { summarise, type LoadResult } from './loadJob.ts';

/** Calls `call` from `concurrency` callers for `ms`; whatever it throws, or gives without `expect`, is an error. */
export async function callLoop(
  { concurrency, ms, expect }: { concurrency: number; ms: number; expect: string },
  call: (turn: number) => Promise<unknown>,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let errors = 0;
  let firstError: string | undefined;
  let turn = 0;
  const begun = performance.now();
  const end = begun + ms;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let now = performance.now(); now < end;) {
        let said: string;
        try {
          const answer = await call(turn++);
          said = textOf(answer) ?? JSON.stringify(answer);
        } catch (error) {
          said = `! ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
        }
        const after = performance.now();
        latencies.push(after - now);
        now = after;
        if (said.startsWith(expect)) continue;
        errors += 1;
        firstError ??= said.slice(0, 600);
      }
    }),
  );
  const elapsed = performance.now() - begun;
  return { ...summarise(latencies, elapsed), errors, ...(firstError !== undefined && { firstError }) };
}

/** The text of a tool result. */
function textOf(answer: unknown): string | undefined {
  const { content } = (answer ?? {}) as { content?: { text?: string }[] };
  return content?.[0]?.text;
}

/** Takes jobs over IPC and answers each. */
export function serveJobs(run: (job: never) => Promise<object>): void {
  process.on('message', (job: unknown) => {
    run(job as never).then(
      (result) => process.send?.(result),
      (error: unknown) =>
        process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
}
