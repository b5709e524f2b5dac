import type { IncomingMessage } from 'node:http';
import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createClientFetchLimit } from './limits.ts';

describe('addresses that anybody can name', () => {
  test('are asked for so often in a minute, for each network by itself', async () => {
    const clock = createFakeClock();
    const limit = createClientFetchLimit(clock, ({ url = '' }) => url);
    const mayAsk = (url: string) =>
      limit.runForRequest({ url } as IncomingMessage, async () => limit.tryConsume());
    const results = await Promise.all(Array.from({ length: 40 }, () => mayAsk('203.0.113.1')));
    expect(results.filter(Boolean)).toHaveLength(30);
    expect(await mayAsk('198.51.100.1')).toBe(true);
    // Those of one site are one.
    const site = Array.from({ length: 40 }, (_, i) => mayAsk(`2001:db8:7:${i.toString(16)}::1`));
    expect((await Promise.all(site)).filter(Boolean)).toHaveLength(30);
    // What nobody pays for is not asked.
    expect(limit.tryConsume()).toBe(false);
    await clock.advance(60_000);
    expect(await mayAsk('203.0.113.1')).toBe(true);
  });
});
