import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { defineServer } from '../../test/toolcallRig.ts';
import type { ItemList } from '../upstream/listAll.ts';
import { createItemListCache } from './itemLists.ts';

const server = defineServer('files', {});

/** A server whose answers the test gives. */
function createRig() {
  const listings = createItemListCache({ clock: createFakeClock() });
  const requests: { answer(name: string): void; fail(error: Error): void; readonly signal: AbortSignal }[] =
    [];
  const load = (options: { fresh?: boolean; signal?: AbortSignal } = {}, holder = '') =>
    listings.load(
      server,
      holder,
      'prompts/list',
      (signal) =>
        new Promise((resolve, reject) => {
          const answer = (name: string) =>
            resolve({ items: [{ name }], complete: true } as unknown as ItemList);
          requests.push({ answer, fail: reject, signal });
        }),
      options,
    );
  return { listings, requests, load };
}

const names = async (lists: readonly Promise<ItemList>[]) =>
  (await Promise.all(lists)).map(({ items }) => items[0]?.['name']);

describe('what servers have besides tools', () => {
  test('is asked for once by all who want it at once', async () => {
    const { requests, load } = createRig();
    const lists = [load(), load(), load()];
    const other = load({}, 'ann');
    expect(requests).toHaveLength(2);
    requests[0]!.answer('a');
    requests[1]!.answer('b');
    expect(await names([...lists, other, load(), load({}, 'ann')])).toEqual(['a', 'a', 'a', 'b', 'a', 'b']);
    expect(requests).toHaveLength(2);
  });

  test('goes on for the others when one leaves', async () => {
    const { requests, load } = createRig();
    const abortController = new AbortController();
    const [left, stays] = [load({ signal: abortController.signal }), load()];
    abortController.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    expect(requests[0]!.signal.aborted).toBe(false);
    requests[0]!.answer('a');
    expect(await names([stays])).toEqual(['a']);
  });

  test('that failed is asked for again', async () => {
    const { requests, load } = createRig();
    const both = [load(), load()];
    requests[0]!.fail(new Error('down'));
    for (const one of both) await expect(one).rejects.toThrow('down');
    const again = load();
    requests[1]!.answer('a');
    expect(await names([again])).toEqual(['a']);
  });

  test('from before a change is nobody’s who asks after it', async () => {
    const { listings, requests, load } = createRig();
    const before = load();
    listings.expire(server.id);
    const after = load();
    expect(requests).toHaveLength(2);
    requests[1]!.answer('new');
    requests[0]!.answer('old');
    expect(await names([before, after, load()])).toEqual(['old', 'new', 'new']);
    // Nor is what a new look was wanted instead of.
    void load({ fresh: true });
    expect(requests).toHaveLength(3);
  });
});
