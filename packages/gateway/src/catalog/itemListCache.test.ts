import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { define } from '../../test/toolcallRig.ts';
import type { ItemList } from './listAll.ts';
import { createItemListCache } from './itemListCache.ts';

const server = define('files', {});

/** A server whose answers the test gives. */
function createRig() {
  const listings = createItemListCache({ clock: createFakeClock() });
  const asked: { answer(name: string): void; fail(error: Error): void; readonly signal: AbortSignal }[] = [];
  const load = (options: { fresh?: boolean; signal?: AbortSignal } = {}, holder = '') =>
    listings.load(
      server,
      holder,
      'prompts/list',
      (signal) =>
        new Promise((resolve, reject) => {
          const answer = (name: string) =>
            resolve({ items: [{ name }], complete: true } as unknown as ItemList);
          asked.push({ answer, fail: reject, signal });
        }),
      options,
    );
  return { listings, asked, load };
}

const names = async (lists: readonly Promise<ItemList>[]) =>
  (await Promise.all(lists)).map(({ items }) => items[0]?.['name']);

describe('what servers have besides tools', () => {
  test('is asked for once by all who want it at once', async () => {
    const { asked, load } = createRig();
    const lists = [load(), load(), load()];
    const other = load({}, 'ann');
    expect(asked).toHaveLength(2);
    asked[0]!.answer('a');
    asked[1]!.answer('b');
    expect(await names([...lists, other, load(), load({}, 'ann')])).toEqual(['a', 'a', 'a', 'b', 'a', 'b']);
    expect(asked).toHaveLength(2);
  });

  test('goes on for the others when one leaves', async () => {
    const { asked, load } = createRig();
    const leaving = new AbortController();
    const [left, stays] = [load({ signal: leaving.signal }), load()];
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(asked[0]!.signal.aborted).toBe(false);
    asked[0]!.answer('a');
    expect(await names([stays])).toEqual(['a']);
  });

  test('that failed is asked for again', async () => {
    const { asked, load } = createRig();
    const both = [load(), load()];
    asked[0]!.fail(new Error('down'));
    for (const one of both) await expect(one).rejects.toThrow('down');
    const again = load();
    asked[1]!.answer('a');
    expect(await names([again])).toEqual(['a']);
  });

  test('from before a change is nobody’s who asks after it', async () => {
    const { listings, asked, load } = createRig();
    const before = load();
    listings.expire(server.id);
    const after = load();
    expect(asked).toHaveLength(2);
    asked[1]!.answer('new');
    asked[0]!.answer('old');
    expect(await names([before, after, load()])).toEqual(['old', 'new', 'new']);
    // Nor is what a new look was wanted instead of.
    void load({ fresh: true });
    expect(asked).toHaveLength(3);
  });
});
