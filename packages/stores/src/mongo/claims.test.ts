import type { PrimaryStore } from '@behalf/gateway/ports';
import { systemRandom } from '@behalf/kernel';
import { createFakeClock, type FakeClock } from '@behalf/testkit';
import { createMongoDouble, type MongoDouble } from '@behalf/testkit/mongo-double';
import { aCredential } from '@behalf/testkit/suites';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openMongoStore } from './openMongoStore.ts';

describe('claims of replicas whose clocks differ', () => {
  /** The server's. */
  let clock: FakeClock;
  let double: MongoDouble;
  const opened: PrimaryStore[] = [];
  beforeEach(async () => {
    clock = createFakeClock();
    double = await createMongoDouble({ clock });
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await double.close();
  });
  const openAt = async (ms: number) => {
    const own = createFakeClock(clock.now() + ms);
    const store = await openMongoStore({ uri: double.uriFor('claims'), clock: own, random: systemRandom });
    opened.push(store);
    return store.credentials;
  };

  test('a claim is set, prolonged and taken over by the clock of the store, whatever a replica believes', async () => {
    const ahead = await openAt(300_000);
    const behind = await openAt(-300_000);
    const { id } = aCredential();
    const by = (owner: string) => ({ generation: 1, rtHash: 'rt-1', tokenSeq: 1, owner, ttlMs: 60_000 });
    await ahead.insert(aCredential());
    expect(await ahead.now()).toBe(clock.now());
    const claimed = await behind.claim(id, by('me'));
    expect(claimed?.record).toMatchObject({
      claimStartedAt: clock.now(),
      claimDeadline: clock.now() + 60_000,
      updatedAt: clock.now(),
    });
    await clock.advance(59_999);
    expect(await ahead.claim(id, by('thief'))).toBeNull();
    expect(await behind.extendClaim(id, 1, 'me', 10)).toBe(true);
    await clock.advance(9);
    expect(await ahead.claim(id, by('thief'))).toBeNull();
    await clock.advance(1);
    expect(await behind.claim(id, by('heir'))).toMatchObject({ tookOver: true });
  });
});
