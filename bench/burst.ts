import type { LoadRequest } from './loadJob.ts';

/** Sends all requests, at most `atOnce` at a time. A wrong response fails the run. */
export async function sendBurst(
  requests: readonly (LoadRequest & { port: number })[],
  { concurrency = requests.length, expectedText }: { concurrency?: number; expectedText: string },
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (let request = requests[next++]; request; request = requests[next++]) {
        const { port, path, headers, body } = request;
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body,
        });
        const text = await response.text();
        if (!response.ok || !text.includes(expectedText))
          throw new Error(`${path}: ${response.status} ${text}`);
      }
    }),
  );
}
