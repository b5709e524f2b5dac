import type { Leases } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import { createAccessRig } from '../../test/accessRig.ts';
import type { UserStore } from '../ports/index.ts';

const coded = (code: string) => expect.objectContaining({ code });
const IDP = 'https://idp.example';

async function createRig(leases?: Leases) {
  const rig = createAccessRig();
  const gateway = rig.gateway(leases ? { leases } : {});
  await gateway.ready;
  const root = await rig.createUser('root', { role: 'ADMIN' });
  const bob = await rig.createUser('bob');
  await rig.createUser('stranger', { tenant: 'elsewhere' });
  const record = async (id: string) => (await rig.store.users.findById(id))!;
  return { ...rig, ...gateway, root, bob, record };
}

/** As if every process believed to be alone. */
const broken: Leases = {
  acquire: async (key, purpose) => ({
    ...{ key, purpose, owner: 'me' },
    extend: async () => true,
    release: async () => true,
  }),
  findHolder: async () => null,
};

describe('administration of users', () => {
  test('users are listed page by page and found by name', async () => {
    const { userAdmin, root, createUser } = await createRig();
    for (const id of ['u1', 'u2', 'u3']) await createUser(id);
    const pages: string[][] = [];
    let after: string | undefined;
    do {
      const page = await userAdmin.list(root, { limit: 2, ...(after !== undefined && { after }) });
      pages.push(page.users.map(({ id }) => id));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(pages).toEqual([['bob', 'root'], ['u1', 'u2'], ['u3']]);
    const found = await userAdmin.list(root, { limit: 50, search: 'U2@' });
    expect(found.users.map(({ id }) => id)).toEqual(['u2']);
  });

  test('somebody of another tenant does not exist', async () => {
    const { userAdmin, root, record } = await createRig();
    for (const id of ['stranger', 'nobody']) {
      for (const work of [
        () => userAdmin.view(root, id),
        () => userAdmin.change(root, id, { disabled: true }),
        () => userAdmin.sessionsOf(root, id),
        () => userAdmin.endSession(root, id, 'x'),
        () => userAdmin.endSessions(root, id),
      ]) {
        await expect(work()).rejects.toEqual(coded('USER_NOT_FOUND'));
      }
    }
    expect(await record('stranger')).toMatchObject({ disabledAt: null, signedOutAt: null });
  });

  test('nobody else does any of it', async () => {
    const { userAdmin, bob, record } = await createRig();
    for (const work of [
      () => userAdmin.list(bob, { limit: 1 }),
      () => userAdmin.view(bob, 'bob'),
      () => userAdmin.change(bob, 'bob', { role: 'ADMIN' }),
      () => userAdmin.sessionsOf(bob, 'root'),
      () => userAdmin.endSession(bob, 'root', 'x'),
      () => userAdmin.endSessions(bob, 'root'),
    ]) {
      await expect(work()).rejects.toEqual(coded('FORBIDDEN'));
    }
    expect((await record('bob')).role).toBe('USER');
  });

  test('a role that an administrator gives is theirs to take back', async () => {
    const { userAdmin, store, root, createUser, record, events } = await createRig();
    await createUser('eve', { issuer: IDP, roleSource: 'claim', roleConfirmedAt: 5 });
    const received: string[] = [];
    store.changes.subscribe(({ topic, id }) => void received.push(`${topic} ${id}`));
    await userAdmin.change(root, 'eve', { role: 'ADMIN' });
    expect(await record('eve')).toMatchObject({ role: 'ADMIN', roleSource: 'manual', roleConfirmedAt: null });
    expect(received).toEqual(['users eve']);
    await userAdmin.change(root, 'eve', { roleSource: 'claim' });
    expect(await record('eve')).toMatchObject({ role: 'ADMIN', roleSource: 'claim' });
    // What a token said before this says nothing any more.
    expect((await record('eve'))?.roleConfirmedAt).toBeGreaterThan(0);
    await userAdmin.change(root, 'eve', { role: 'ADMIN' });
    expect(await record('eve')).toMatchObject({ roleSource: 'manual' });
    await expect(userAdmin.change(root, 'bob', { roleSource: 'claim' })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
      errors: [{ path: 'roleSource' }],
    });
    await expect(userAdmin.change(root, 'eve', { role: 'nothing' })).rejects.toEqual(coded('ROLE_NOT_FOUND'));
    expect(events.filter(({ outcome }) => outcome === 'ok')).toMatchObject([
      { kind: 'permission', action: 'user.change', subject: 'eve', changed: ['role', 'roleSource'] },
      { action: 'user.change', changed: ['roleSource'] },
      { action: 'user.change', changed: ['roleSource'] },
    ]);
  });

  test('a token that speaks at the same moment is not overruled unseen', async () => {
    const { userAdmin, store, root, createUser, roles, clock } = await createRig();
    await createUser('eve', { issuer: IDP, roleSource: 'claim', role: 'USER' });
    const refresh = roles.refresh.bind(roles);
    roles.refresh = async () => {
      await store.users.update('eve', { role: 'analyst' }, clock.now());
      return refresh();
    };
    await expect(userAdmin.change(root, 'eve', { role: 'ADMIN' })).rejects.toEqual(coded('VERSION_CONFLICT'));
  });

  test('who is disabled is signed out and stays out', async () => {
    const { userAdmin, sessions, root, record, clock } = await createRig();
    const { secret } = await sessions.start(await record('bob'));
    await userAdmin.change(root, 'bob', { disabled: true });
    const disabled = await record('bob');
    expect(disabled).toMatchObject({ disabledAt: clock.now(), signedOutAt: clock.now() });
    expect([await sessions.resolve(secret), await sessions.list('bob')]).toEqual([null, []]);
    const late = await sessions.start(disabled);
    expect(await sessions.resolve(late.secret)).toBeNull();
    await userAdmin.change(root, 'bob', { disabled: false });
    expect(await sessions.resolve(late.secret)).not.toBeNull();
  });

  test('nobody comes back with a role that is gone', async () => {
    const { userAdmin, roleAdmin, root, record } = await createRig();
    await roleAdmin.create(root, { name: 'analyst', description: '', permissions: {} });
    await userAdmin.change(root, 'bob', { role: 'analyst', disabled: true });
    await roleAdmin.remove(root, 'analyst');
    await expect(userAdmin.change(root, 'bob', { disabled: false })).rejects.toEqual(coded('ROLE_NOT_FOUND'));
    await userAdmin.change(root, 'bob', { disabled: false, role: 'USER' });
    expect(await record('bob')).toMatchObject({ role: 'USER', disabledAt: null });
  });

  test('the last administrator is neither demoted nor disabled', async () => {
    const { userAdmin, createUser, root, record, clock } = await createRig();
    const before = await record('root');
    await clock.advance(5);
    await createUser('off', { role: 'ADMIN', disabledAt: 1 });
    await createUser('away', { role: 'ADMIN', tenant: 'elsewhere' });
    for (const change of [{ role: 'USER' }, { disabled: true }, { role: 'USER', disabled: true }]) {
      await expect(userAdmin.change(root, 'root', change)).rejects.toEqual(coded('LAST_ADMIN'));
    }
    // Not for a moment either: nothing was written.
    expect(await record('root')).toEqual(before);
    await userAdmin.change(root, 'bob', { role: 'ADMIN' });
    await userAdmin.change(root, 'root', { role: 'USER' });
    expect((await record('root')).role).toBe('USER');
  });

  test('two who demote each other at once leave one', async () => {
    const rig = await createRig();
    const { createUser, root, clock, store } = rig;
    const eve = await createUser('eve', { role: 'ADMIN' });
    const other = rig.gateway();
    await other.ready;
    const both = Promise.allSettled([
      rig.userAdmin.change(root, 'eve', { role: 'USER' }),
      other.userAdmin.change(eve, 'root', { disabled: true }),
    ]);
    await clock.advance(1_000);
    const outcomes = await both;
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes).toContainEqual({ status: 'rejected', reason: coded('LAST_ADMIN') });
    expect(await store.users.countWithRole('default', 'ADMIN')).toBe(1);
  });

  test('and at least one where both believe to be alone', async () => {
    const rig = await createRig(broken);
    const eve = await rig.createUser('eve', { role: 'ADMIN' });
    meetAtTheCount(rig.store.users);
    const outcomes = await Promise.allSettled([
      rig.userAdmin.change(rig.root, 'eve', { role: 'USER' }),
      rig.userAdmin.change(eve, 'root', { role: 'USER' }),
    ]);
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true);
    expect(await rig.store.users.countWithRole('default', 'ADMIN')).toBeGreaterThan(0);
  });

  test('who took too long writes nothing', async () => {
    const lost: Leases = {
      ...broken,
      acquire: async (...args) => {
        const lease = await broken.acquire(...args);
        return lease && { ...lease, extend: async () => false };
      },
    };
    const { userAdmin, root, record } = await createRig(lost);
    await expect(userAdmin.change(root, 'bob', { role: 'ADMIN' })).rejects.toEqual(
      coded('STORE_UNAVAILABLE'),
    );
    expect((await record('bob')).role).toBe('USER');
  });

  test('a turn that does not come is not waited for without end', async () => {
    const { userAdmin, store, root, clock } = await createRig();
    await store.leases.acquire(JSON.stringify(['admins', 'default']), 'maintenance', 60_000);
    const change = userAdmin.change(root, 'bob', { role: 'ADMIN' });
    const refused = expect(change).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryAfterMs: 1_000 });
    await clock.advance(6_000);
    await refused;
  });

  test('sessions are listed and ended, one or all', async () => {
    const { userAdmin, sessions, root, record, store, events, clock } = await createRig();
    const bob = await record('bob');
    const [one, two] = [await sessions.start(bob), await sessions.start(bob)];
    const mine = await sessions.start(await record('root'));
    expect((await userAdmin.sessionsOf(root, 'bob')).map(({ hash }) => hash).sort()).toEqual(
      [one.hash, two.hash].sort(),
    );
    // A session of somebody else is none of theirs.
    await expect(userAdmin.endSession(root, 'bob', mine.hash)).rejects.toEqual(coded('SESSION_NOT_FOUND'));
    await clock.advance(5);
    const received: string[] = [];
    store.changes.subscribe(({ topic, id }) => void received.push(`${topic} ${id}`));
    await userAdmin.endSession(root, 'bob', one.hash);
    expect([await sessions.resolve(one.secret), (await sessions.resolve(two.secret)) !== null]).toEqual([
      null,
      true,
    ]);
    expect(received).toEqual([`sessions ${one.hash}`, 'users bob']);
    expect((await record('bob')).signedOutAt).toBe(clock.now());
    expect(await userAdmin.endSessions(root, 'bob')).toBe(1);
    expect(await sessions.resolve(two.secret)).toBeNull();
    expect(await sessions.resolve(mine.secret)).not.toBeNull();
    expect(events.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'session.revoke refused',
      'session.revoke ok',
      'session.revoke_all ok',
    ]);
    expect(JSON.stringify(events)).not.toContain(one.hash);
  });
});

/** The first two who count administrators have both counted before either goes on. */
function meetAtTheCount(users: UserStore): void {
  const count = users.countWithRole.bind(users);
  let arrived = 0;
  let meet: () => void = () => undefined;
  const met = new Promise<void>((resolve) => (meet = resolve));
  users.countWithRole = async (...args) => {
    const counted = await count(...args);
    arrived += 1;
    if (arrived === 2) meet();
    await met;
    return counted;
  };
}
