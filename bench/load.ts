import { serveJobs } from './callLoop.ts';
import { summarise, type LoadJob, type LoadResult } from './loadJob.ts';
import { RawClient, rawRequest } from './rawClient.ts';

/** The load generator, in a process of its own: takes a job over IPC, answers with its figures. */
serveJobs(run);

async function run({
  port,
  requests,
  concurrency,
  ms,
  expect,
  status,
  pauseMs,
  atLeast = 0,
}: LoadJob): Promise<LoadResult> {
  const bytes = requests.map((request) => rawRequest(port, request));
  const needle = Buffer.from(expect);
  const latencies: number[] = [];
  // Not always the same first: with many requests a round may not come to all of them.
  let turn = atLeast > 0 ? 0 : Math.floor(Math.random() * bytes.length);
  let errors = 0;
  let firstError: string | undefined;
  const clients = Array.from({ length: concurrency }, () => new RawClient(port));
  const begun = performance.now();
  const end = begun + ms;
  await Promise.all(
    clients.map(async (client) => {
      for (let now = performance.now(); now < end || latencies.length < atLeast;) {
        const answer = await client.ask(bytes[turn++ % bytes.length] as Buffer);
        const after = performance.now();
        latencies.push(after - now);
        now = after;
        if (!answer.bytes.includes(needle) || (answer.status !== 200 && status !== 'any')) {
          errors += 1;
          firstError ??= answer.bytes.toString('utf8', 0, 600);
        }
        if (pauseMs === undefined) continue;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        now = performance.now();
      }
    }),
  );
  const elapsed = performance.now() - begun;
  for (const client of clients) client.close();
  return { ...summarise(latencies, elapsed), errors, ...(firstError !== undefined && { firstError }) };
}
