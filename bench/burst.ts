import type { LoadRequest } from './loadJob.ts';

/** Sends all of them, at most `atOnce` at a time. A bad answer fails the run: a count over errors says nothing. */
export async function burst(
  requests: readonly (LoadRequest & { port: number })[],
  { atOnce = requests.length, expect }: { atOnce?: number; expect: string },
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let request = requests[next++]; request; request = requests[next++]) {
        const { port, path, headers, body } = request;
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body,
        });
        const text = await answer.text();
        if (!answer.ok || !text.includes(expect)) throw new Error(`${path}: ${answer.status} ${text}`);
      }
    }),
  );
}
