import { describe, expect, test } from '@jest/globals';
import { by, createAuthorRig as begin, DAY_MS } from '../../test/oboTrustRig.ts';

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
    const { clock, isTrusted, user, claimed } = await begin();
    await user('never', { ...claimed, roleConfirmedAt: null });
    await user('ageless', { ...claimed, roleConfirmedAt: 0 });
    // A clock that runs ahead is one thing; a role that would count for years is another.
    await user('ahead', { ...claimed, roleConfirmedAt: clock.now() + 60_000 });
    await user('future', { ...claimed, roleConfirmedAt: clock.now() + 365 * DAY_MS });
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
    const { clock, isTrusted, confirm, trust, reads } = await begin();
    await clock.advance(14 * DAY_MS);
    expect(await isTrusted()).toBe(false);
    await confirm();
    await clock.advance(1_999);
    const before = reads();
    // Who is refused costs the store no more than who is trusted.
    expect([trust.isTrusted(by('eve')), reads()]).toEqual([false, before]);
    await clock.advance(1);
    expect(await isTrusted()).toBe(true);
    expect([trust.isTrusted(by('eve')), reads()]).toEqual([true, before + 1]);
  });

  test('administrators are told three days before, once a day', async () => {
    const { clock, isTrusted, told, noted, confirm } = await begin();
    await clock.advance(11 * DAY_MS - 1);
    expect(await isTrusted()).toBe(true);
    expect([told, noted]).toEqual([[], []]);
    await clock.advance(1);
    for (let times = 0; times < 3; times += 1) expect(await isTrusted()).toBe(true);
    expect(told).toEqual([
      {
        event: 'obo_author_expiring',
        fields: { tenant: 'default', author: 'eve', server: 's', hoursLeft: 72 },
      },
    ]);
    expect(noted).toMatchObject([
      {
        ...{ kind: 'permission', action: 'obo.author_expiring', tenant: 'default', outcome: 'ok' },
        ...{ actor: { kind: 'gateway' }, door: 'gateway', server: 's', subject: 'eve' },
      },
    ]);
    await clock.advance(DAY_MS - 1);
    await isTrusted();
    expect(told).toHaveLength(1);
    await clock.advance(1);
    await isTrusted();
    expect(told.map(({ fields }) => fields['hoursLeft'])).toEqual([72, 48]);
    await clock.advance(2 * DAY_MS);
    expect(await isTrusted()).toBe(false);
    expect(await isTrusted()).toBe(false);
    expect(told.map(({ event }) => event)).toEqual([
      'obo_author_expiring',
      'obo_author_expiring',
      'obo_author_expired',
    ]);
    expect(noted.at(-1)).toMatchObject({ action: 'obo.author_expired', outcome: 'refused' });
    await confirm();
    await clock.advance(2_000);
    expect([await isTrusted(), told.length, noted.length]).toEqual([true, 3, 3]);
  });

  test('nobody is told of who may not decide anyway', async () => {
    const { clock, isTrusted, told, user, claimed } = await begin();
    await user('bob', { ...claimed, role: 'USER', roleConfirmedAt: clock.now() });
    await user('off', { ...claimed, disabledAt: 1, roleConfirmedAt: clock.now() });
    await clock.advance(13 * DAY_MS);
    for (const id of ['bob', 'off', 'root', 'nobody']) await isTrusted(id);
    expect(told).toEqual([]);
  });

  test('where it counts for a short time only, they are told shortly before', async () => {
    const { clock, isTrusted, told } = await begin(4 * HOUR_MS);
    await clock.advance(3 * HOUR_MS - 1);
    await isTrusted();
    expect(told).toEqual([]);
    await clock.advance(1);
    await isTrusted();
    expect(told).toMatchObject([{ event: 'obo_author_expiring', fields: { hoursLeft: 1 } }]);
  });
});

describe('an answer about who decides where tokens go', () => {
  test('counts only while it is news: a change meanwhile is read again', async () => {
    const { isTrusted, hold, change, reads } = await begin();
    let changing: Promise<unknown> | undefined;
    hold(async () => {
      changing ??= change('eve', { role: 'USER' });
      await changing;
    });
    expect(await isTrusted()).toBe(false);
    expect(reads()).toBe(2);
  });

  test('one that comes late, or never, is a no', async () => {
    const { clock, trust, hold, change, isTrusted } = await begin();
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    hold(() => held);
    const asked = trust.isTrusted(by('eve'));
    await clock.advance(2_000);
    expect(await asked).toBe(false);
    // Who asks now does not wait with those who asked then.
    hold(async () => undefined);
    const again = trust.isTrusted(by('eve'));
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
    expect(roles.reads).toBe(1);
    roles.fresh = false;
    roles.isChanging = true;
    expect(await isTrusted()).toBe(false);
  });

  test('many who ask at once are answered by one look', async () => {
    const { isTrusted, reads } = await begin();
    const answers = await Promise.all(Array.from({ length: 50 }, () => isTrusted()));
    expect([new Set(answers), reads()]).toEqual([new Set([true]), 1]);
  });
});
