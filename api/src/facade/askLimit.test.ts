import type { IncomingMessage } from 'node:http';
import { createFakeClock, verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { createAskLimit } from './askLimit.ts';

describe('documents that anybody can name', () => {
  verifies('facade.cimd.rate', 'are asked for so often in a minute, for each network by itself', async () => {
    const clock = createFakeClock();
    const mayAsk = createAskLimit(clock, ({ url = '' }) => url);
    const from = (url: string) => ({ url }) as IncomingMessage;
    const asked = Array.from({ length: 40 }, () => mayAsk(from('203.0.113.1')));
    expect(asked.filter(Boolean)).toHaveLength(30);
    expect(mayAsk(from('198.51.100.1'))).toBe(true);
    expect(mayAsk(undefined)).toBe(true);
    await clock.advance(60_000);
    expect(mayAsk(from('203.0.113.1'))).toBe(true);
  });
});
