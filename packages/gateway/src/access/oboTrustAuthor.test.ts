import { describe, expect, test } from '@jest/globals';
import { authoredBy, createAuthorRig as begin, DAY_MS } from '../../test/oboTrustRig.ts';

const HOUR_MS = DAY_MS / 24;
describe('a role that a token gave to who decides where tokens go', () => {
  test('counts for as long as it may, to the millisecond', async () => {
    const { clock, isTrusted } = await begin();
    await clock.advance(14 * DAY_MS - 1);
    expect(await isTrusted()).toBe(true);
    await clock.advance(1);
    // Nobody told, and what is remembered is a millisecond old.
    expect(await isTrusted()).toBe(false);
  });

  test('and not at all when nobody knows when it was given', async () => {
    const { clock, isTrusted, createUser, claimedRole } = await begin();
    await createUser('never', { ...claimedRole, roleConfirmedAt: null });
    await createUser('ageless', { ...claimedRole, roleConfirmedAt: 0 });
    // A clock that runs ahead is one thing; a role that would count for years is another.
    await createUser('ahead', { ...claimedRole, roleConfirmedAt: clock.now() + 60_000 });
    await createUser('future', { ...claimedRole, roleConfirmedAt: clock.now() + 365 * DAY_MS });
    for (const [id, outcome] of [
      ['never', false],
      ['ageless', false],
      ['ahead', true],
      ['future', false],
    ] as const) {
      expect([id, await isTrusted(id)]).toEqual([id, outcome]);
    }
  });

  test('what an administrator gave by hand has no end', async () => {
    const { clock, isTrusted, change } = await begin();
    await clock.advance(400 * DAY_MS);
    expect(await isTrusted('root')).toBe(true);
    expect(await isTrusted()).toBe(false);
    // Given by hand from now on.
    await change('eve', { roleSource: 'manual', roleConfirmedAt: null });
    expect(await isTrusted()).toBe(true);
  });

  test('another token gives it back within two seconds', async () => {
    const { clock, isTrusted, confirm, trust, readCount } = await begin();
    await clock.advance(14 * DAY_MS);
    expect(await isTrusted()).toBe(false);
    await confirm();
    await clock.advance(1_999);
    const before = readCount();
    // Who is refused costs the store no more than who is trusted.
    expect([trust.isTrusted(authoredBy('eve')), readCount()]).toEqual([false, before]);
    await clock.advance(1);
    expect(await isTrusted()).toBe(true);
    expect([trust.isTrusted(authoredBy('eve')), readCount()]).toEqual([true, before + 1]);
  });

  test('administrators are told three days before, once a day', async () => {
    const { clock, isTrusted, logged, auditNotes, confirm } = await begin();
    await clock.advance(11 * DAY_MS - 1);
    expect(await isTrusted()).toBe(true);
    expect([logged, auditNotes]).toEqual([[], []]);
    await clock.advance(1);
    for (let times = 0; times < 3; times += 1) expect(await isTrusted()).toBe(true);
    expect(logged).toEqual([
      {
        event: 'obo_author_expiring',
        fields: { tenant: 'default', author: 'eve', server: 's', hoursLeft: 72 },
      },
    ]);
    expect(auditNotes).toMatchObject([
      {
        ...{ kind: 'permission', action: 'obo.author_expiring', tenant: 'default', outcome: 'ok' },
        ...{ actor: { kind: 'gateway' }, door: 'gateway', server: 's', subject: 'eve' },
      },
    ]);
    await clock.advance(DAY_MS - 1);
    await isTrusted();
    expect(logged).toHaveLength(1);
    await clock.advance(1);
    await isTrusted();
    expect(logged.map(({ fields }) => fields['hoursLeft'])).toEqual([72, 48]);
    await clock.advance(2 * DAY_MS);
    expect(await isTrusted()).toBe(false);
    expect(await isTrusted()).toBe(false);
    expect(logged.map(({ event }) => event)).toEqual([
      'obo_author_expiring',
      'obo_author_expiring',
      'obo_author_expired',
    ]);
    expect(auditNotes.at(-1)).toMatchObject({ action: 'obo.author_expired', outcome: 'refused' });
    await confirm();
    await clock.advance(2_000);
    expect([await isTrusted(), logged.length, auditNotes.length]).toEqual([true, 3, 3]);
  });

  test('nobody is told of who may not decide anyway', async () => {
    const { clock, isTrusted, logged, createUser, claimedRole } = await begin();
    await createUser('bob', { ...claimedRole, role: 'USER', roleConfirmedAt: clock.now() });
    await createUser('off', { ...claimedRole, disabledAt: 1, roleConfirmedAt: clock.now() });
    await clock.advance(13 * DAY_MS);
    for (const id of ['bob', 'off', 'root', 'nobody']) await isTrusted(id);
    expect(logged).toEqual([]);
  });

  test('where it counts for a short time only, they are told shortly before', async () => {
    const { clock, isTrusted, logged } = await begin(4 * HOUR_MS);
    await clock.advance(3 * HOUR_MS - 1);
    await isTrusted();
    expect(logged).toEqual([]);
    await clock.advance(1);
    await isTrusted();
    expect(logged).toMatchObject([{ event: 'obo_author_expiring', fields: { hoursLeft: 1 } }]);
  });
});

describe('an answer about who decides where tokens go', () => {
  test('counts only while it is news: a change meanwhile is read again', async () => {
    const { isTrusted, setDuringRead, change, readCount } = await begin();
    let changing: Promise<unknown> | undefined;
    setDuringRead(async () => {
      changing ??= change('eve', { role: 'USER' });
      await changing;
    });
    expect(await isTrusted()).toBe(false);
    expect(readCount()).toBe(2);
  });

  test('one that comes late, or never, is a no', async () => {
    const { clock, trust, setDuringRead, change, isTrusted } = await begin();
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    setDuringRead(() => held);
    const pending = trust.isTrusted(authoredBy('eve'));
    await clock.advance(2_000);
    expect(await pending).toBe(false);
    // Who asks now does not wait with those who asked then.
    setDuringRead(async () => undefined);
    const again = trust.isTrusted(authoredBy('eve'));
    await clock.advance(2_000);
    expect(await again).toBe(true);
    // What was read so long ago does not take the place of what is known by now.
    await change('eve', { role: 'USER' });
    expect(await isTrusted()).toBe(false);
    answer();
    await clock.advance(0);
    expect(await isTrusted()).toBe(false);
  });

  test('roles that are not fresh are read first', async () => {
    const { isTrusted, roles } = await begin();
    roles.fresh = false;
    expect(await isTrusted()).toBe(true);
    expect(roles.readCount).toBe(1);
    roles.fresh = false;
    roles.isChanging = true;
    expect(await isTrusted()).toBe(false);
  });

  test('many who ask at once are answered by one look', async () => {
    const { isTrusted, readCount } = await begin();
    const answers = await Promise.all(Array.from({ length: 50 }, () => isTrusted()));
    expect([new Set(answers), readCount()]).toEqual([new Set([true]), 1]);
  });
});
