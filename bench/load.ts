import { serveJobs } from './callLoop.ts';
import { summarizeLatencies, type LoadJob, type LoadResult } from './loadJob.ts';
import { RawClient, encodeRequest } from './rawClient.ts';

/** The load generator in a separate process. Receives jobs over IPC and returns figures. */
serveJobs(runLoad);

async function runLoad({
  port,
  requests,
  concurrency,
  ms,
  expectedText,
  status,
  pauseMs,
  minCalls = 0,
}: LoadJob): Promise<LoadResult> {
  const requestBytes = requests.map((request) => encodeRequest(port, request));
  const needle = Buffer.from(expectedText);
  const latencies: number[] = [];
  // Starts at a random request, because a round may be too short for all of them.
  let index = minCalls > 0 ? 0 : Math.floor(Math.random() * requestBytes.length);
  let errors = 0;
  let firstError: string | undefined;
  const clients = Array.from({ length: concurrency }, () => new RawClient(port));
  const startedAt = performance.now();
  const endAt = startedAt + ms;
  await Promise.all(
    clients.map(async (client) => {
      for (let now = performance.now(); now < endAt || latencies.length < minCalls;) {
        const response = await client.send(requestBytes[index++ % requestBytes.length] as Buffer);
        const finishedAt = performance.now();
        latencies.push(finishedAt - now);
        now = finishedAt;
        if (!response.bytes.includes(needle) || (response.status !== 200 && status !== 'any')) {
          errors += 1;
          firstError ??= response.bytes.toString('utf8', 0, 600);
        }
        if (pauseMs === undefined) continue;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        now = performance.now();
      }
    }),
  );
  const elapsed = performance.now() - startedAt;
  for (const client of clients) client.close();
  return {
    ...summarizeLatencies(latencies, elapsed),
    errors,
    ...(firstError !== undefined && { firstError }),
  };
}
