import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createCalmly } from './calmly.ts';

const notice = (method: string) => ({ method, params: {} });

describe('a flood of notices', () => {
  test('is told at once and then once a second, each kind for itself', async () => {
    const clock = createFakeClock();
    const told: string[] = [];
    const calmly = createCalmly(clock, ({ method }) => void told.push(method));
    for (let i = 0; i < 50; i += 1) calmly.tell('a', notice('a'));
    calmly.tell('b', notice('b'));
    expect(told).toEqual(['a', 'b']);
    await clock.advance(1_000);
    expect(told).toEqual(['a', 'b', 'a']);
    calmly.tell('a', notice('a'));
    await clock.advance(5_000);
    expect(told).toEqual(['a', 'b', 'a', 'a']);
    calmly.tell('a', notice('a'));
    calmly.tell('a', notice('a'));
    calmly.close();
    await clock.advance(5_000);
    expect(told).toEqual(['a', 'b', 'a', 'a', 'a']);
  });
});
