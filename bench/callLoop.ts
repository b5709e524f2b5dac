import { summarizeLatencies, type LoadResult } from './loadJob.ts';

/** Calls `call` from `concurrency` callers for `ms`. An exception, or a result without `expect`, counts as an error. */
export async function runCallLoop(
  { concurrency, ms, expectedText }: { concurrency: number; ms: number; expectedText: string },
  call: (index: number) => Promise<unknown>,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let errors = 0;
  let firstError: string | undefined;
  let index = 0;
  const startedAt = performance.now();
  const endAt = startedAt + ms;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let now = performance.now(); now < endAt;) {
        let text: string;
        try {
          const result = await call(index++);
          text = textOf(result) ?? JSON.stringify(result);
        } catch (error) {
          text = `! ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
        }
        const finishedAt = performance.now();
        latencies.push(finishedAt - now);
        now = finishedAt;
        if (text.startsWith(expectedText)) continue;
        errors += 1;
        firstError ??= text.slice(0, 600);
      }
    }),
  );
  const elapsed = performance.now() - startedAt;
  return {
    ...summarizeLatencies(latencies, elapsed),
    errors,
    ...(firstError !== undefined && { firstError }),
  };
}

/** The text of a tool result. */
function textOf(result: unknown): string | undefined {
  const { content } = (result ?? {}) as { content?: { text?: string }[] };
  return content?.[0]?.text;
}

/** Receives jobs over IPC and responds to each. */
export function serveJobs(run: (job: never) => Promise<object>): void {
  process.on('message', (job: unknown) => {
    run(job as never).then(
      (result) => process.send?.(result),
      (error: unknown) =>
        process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
}
