import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { createBatchedResponses } from './router.ts';

describe('the end of a turn', () => {
  test('answers that are ready in one turn end together, and one that cannot be written keeps no other back', async () => {
    const batchedResponses = createBatchedResponses();
    const held: ServerResponse[] = [];
    const ended: boolean[] = [];
    const server = createServer((_req, res) => {
      if (held.push(res) < 3) return;
      const [broken] = held;
      if (broken) broken.end = fail;
      for (const each of held) batchedResponses(each, 'answer');
      ended.push(...held.map(({ writableEnded }) => writableEnded));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const results = await Promise.allSettled(
        [1, 2, 3].map(async () => {
          const answer = await fetch(url, { headers: { connection: 'close' } });
          return answer.text();
        }),
      );
      expect(ended).toEqual([false, false, false]);
      const fulfilled = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(fulfilled).toEqual(['answer', 'answer']);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

function fail(): never {
  throw new Error('It cannot be written');
}
