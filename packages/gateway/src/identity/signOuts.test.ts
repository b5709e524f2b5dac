import { describe, expect, test } from '@jest/globals';
import { adaAccount, createIdentityRig } from '../../test/identityRig.ts';
import { principalKey } from '../principal/principal.ts';
import { subscribeToSignOuts } from './revocationMonitor.ts';

async function createRig() {
  const rig = createIdentityRig();
  const { store, clock, accounts } = rig;
  const user = await accounts.create(adaAccount);
  const key = principalKey({ tenant: user.tenant, userId: user.id });
  const ended: string[] = [];
  let fails = false;
  const users = {
    listSignedOutSince: (at: number) =>
      fails ? Promise.reject(new Error('away')) : store.users.listSignedOutSince(at),
  };
  // As a poll tells it: not who, only that something changed.
  const settled = async () => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  const tell = async () => {
    await store.changes.publish({ topic: 'users', id: '*' });
    await settled();
  };
  const following = subscribeToSignOuts({
    users,
    changes: store.changes,
    clock,
    onSignedOut: (who) => void ended.push(who),
  });
  return { ...rig, user, key, ended, tell, settled, following, fail: (now: boolean) => (fails = now) };
}

describe('a sign-out somewhere', () => {
  test('ends what is held for this user here, once', async () => {
    const { sessions, user, key, ended, tell, clock, following } = await createRig();
    const first = await sessions.start(user);
    const second = await sessions.start(user);
    await tell();
    expect(ended).toEqual([]);
    await clock.advance(10);
    await sessions.end(first.secret);
    await tell();
    await tell();
    expect(ended).toEqual([key]);
    await clock.advance(10);
    await sessions.end(second.secret);
    await tell();
    expect(ended).toEqual([key, key]);
    following.stop();
    await clock.advance(10);
    await sessions.endAll(user);
    await tell();
    expect(ended).toHaveLength(2);
  });

  test('also when the store could not say at first', async () => {
    const { sessions, user, key, ended, tell, settled, clock, fail } = await createRig();
    const { secret } = await sessions.start(user);
    await clock.advance(10);
    fail(true);
    await sessions.end(secret);
    await tell();
    expect(ended).toEqual([]);
    // However long it could not.
    await clock.advance(600_000);
    expect(ended).toEqual([]);
    fail(false);
    // Nobody has to tell again.
    await clock.advance(1_000);
    await settled();
    expect(ended).toEqual([key]);
  });
});
