import { aPrincipal } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createDisplayBudget } from './results.ts';

/** Something that is being sent until it is told that it was read. */
function slowly() {
  let read: () => void = () => undefined;
  const done = new Promise<void>((resolve) => (read = resolve));
  return { work: () => done, read };
}

describe('large results on their way to readers', () => {
  test('have an end for each user and for all, and give back what was read', async () => {
    const [ada, bob, eve] = ['ada', 'bob', 'eve'].map((userId) => aPrincipal({ userId }));
    const showing = createDisplayBudget({ maxPerUser: 10, maxTotal: 15 });
    const first = slowly();
    const one = showing.send(ada!, 10, first.work);
    let sent = 0;
    const next = async () => void (sent += 1);
    expect(await showing.send(ada!, 1, next)).toBe(false);
    expect(await showing.send(bob!, 11, next)).toBe(false);
    const second = slowly();
    const two = showing.send(bob!, 5, second.work);
    expect(await showing.send(eve!, 1, next)).toBe(false);
    expect(sent).toBe(0);
    first.read();
    expect(await one).toBe(true);
    expect(await showing.send(ada!, 10, next)).toBe(true);
    second.read();
    expect(await two).toBe(true);
    const failed = showing.send(eve!, 10, () => Promise.reject(new Error('gone')));
    await expect(failed).rejects.toThrow('gone');
    expect(await showing.send(eve!, 10, next)).toBe(true);
  });
});
