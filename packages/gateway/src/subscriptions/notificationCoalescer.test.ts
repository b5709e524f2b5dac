import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createNotificationCoalescer } from './upstreamSubscription.ts';

const notice = (method: string) => ({ method, params: {} });

describe('a flood of notices', () => {
  test('is told at once and then once a second, each kind for itself', async () => {
    const clock = createFakeClock();
    const reported: string[] = [];
    const coalescer = createNotificationCoalescer(clock, ({ method }) => void reported.push(method));
    for (let i = 0; i < 50; i += 1) coalescer.emit('a', notice('a'));
    coalescer.emit('b', notice('b'));
    expect(reported).toEqual(['a', 'b']);
    await clock.advance(1_000);
    expect(reported).toEqual(['a', 'b', 'a']);
    coalescer.emit('a', notice('a'));
    await clock.advance(5_000);
    expect(reported).toEqual(['a', 'b', 'a', 'a']);
    coalescer.emit('a', notice('a'));
    coalescer.emit('a', notice('a'));
    coalescer.close();
    await clock.advance(5_000);
    expect(reported).toEqual(['a', 'b', 'a', 'a', 'a']);
  });
});
