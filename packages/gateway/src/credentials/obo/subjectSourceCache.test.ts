import { describe, expect, test } from '@jest/globals';
import { createSubjectRig } from '../../../test/subjectRig.ts';
import { MAX_STALENESS_MS } from '../../ports/index.ts';
import { createSubjectSource } from './subjectSource.ts';

async function createRig() {
  const rig = await createSubjectRig();
  const { ada, signInUser, bearer, apiKey } = rig;
  const session = await signInUser(ada, 'login');
  return { ...rig, session, callers: [session.caller, bearer(ada, 'shown'), apiKey(ada)] };
}

describe('the known token of a caller', () => {
  test('is there at once, without asking anybody', async () => {
    const { source, callers, reads, clock } = await createRig();
    for (const caller of callers) {
      const subject = await source.current(caller);
      const before = reads.length;
      expect(before).toBeGreaterThan(0);
      await clock.advance(MAX_STALENESS_MS - 1);
      // The same object: nothing was read, opened or hashed for it.
      for (let i = 0; i < 50; i += 1) expect(source.current(caller)).toBe(subject);
      expect(reads).toHaveLength(before);
      await clock.advance(1);
      expect(source.current(caller)).toBeInstanceOf(Promise);
    }
  });

  test('lasts longer while the feed is sure to have heard everything', async () => {
    const { parts, session, store, clock, reads } = await createRig();
    const source = createSubjectSource({
      ...parts,
      changes: { ...store.changes, syncedUntil: () => clock.now() },
    });
    const subject = await source.current(session.caller);
    await clock.advance(29_999);
    expect(source.current(session.caller)).toBe(subject);
    expect(reads).toHaveLength(3);
    await clock.advance(1);
    expect(source.current(session.caller)).toBeInstanceOf(Promise);
  });

  test('is read once for many who ask at the same time', async () => {
    const { source, callers, reads } = await createRig();
    for (const [caller, cost] of callers.map((one, i) => [one, [3, 1, 3][i]] as const)) {
      reads.length = 0;
      const all = await Promise.all(Array.from({ length: 50 }, async () => source.current(caller)));
      expect(new Set(all).size).toBe(1);
      expect(reads).toHaveLength(cost!);
    }
  });

  test('ends when the token does, however lately it was read', async () => {
    const { parts, ada, bearer, signInUser, clock, store } = await createRig();
    const source = createSubjectSource({
      ...parts,
      changes: { ...store.changes, syncedUntil: () => clock.now() },
    });
    const short = { expiresAt: clock.now() + 20_000 };
    const { caller } = await signInUser(ada, 'short', short);
    await source.current(caller);
    await clock.advance(19_998);
    expect(source.current(caller)).toMatchObject({ via: 'session' });
    await clock.advance(1);
    await expect(source.current(caller)).rejects.toMatchObject({ reason: 'expired_no_refresh' });
    const later = bearer(ada, 'shown', { expiresAt: clock.now() + 10_000 });
    await source.current(later);
    await clock.advance(10_000);
    expect(() => source.current(later)).toThrow('expired_no_refresh');
  });

  test('is gone at once with its session, wherever that was ended', async () => {
    const { readSubjectToken, session, apiKey, ada, sessions, signInUser } = await createRig();
    const other = await signInUser(ada, 'other');
    const key = apiKey(ada);
    for (const caller of [session.caller, other.caller]) await readSubjectToken(caller);
    expect(await readSubjectToken(key)).toBe('other');
    await sessions.end(other.secret);
    expect(await readSubjectToken(other.caller)).toBe('absent session');
    expect(await readSubjectToken(key)).toBe('login');
    expect(await readSubjectToken(session.caller)).toBe('login');
    await sessions.endAll(ada);
    expect(await readSubjectToken(session.caller)).toBe('absent session');
    expect(await readSubjectToken(key)).toBe('absent session');
  });

  test('ends by a notice about its session, its user, or anybody', async () => {
    const { source, session, ada, store } = await createRig();
    const notices = [
      { topic: 'sessions', id: session.hash },
      { topic: 'sessions', id: '*' },
      { topic: 'users', id: ada.id },
      { topic: 'users', id: '*' },
    ] as const;
    for (const notice of notices) {
      await source.current(session.caller);
      await store.changes.publish({ topic: notice.topic, id: 'somebody else' });
      await store.changes.publish({ topic: 'apiKeys', id: '*' });
      expect(source.current(session.caller)).not.toBeInstanceOf(Promise);
      await store.changes.publish(notice);
      expect(source.current(session.caller)).toBeInstanceOf(Promise);
    }
  });

  test('is gone after two seconds when no notice comes', async () => {
    const { source, readSubjectToken, session, clock, store } = await createRig();
    await readSubjectToken(session.caller);
    await store.sessions.remove(session.hash);
    await clock.advance(MAX_STALENESS_MS - 1);
    expect(source.current(session.caller)).not.toBeInstanceOf(Promise);
    await clock.advance(1);
    expect(await readSubjectToken(session.caller)).toBe('absent session');
    expect(MAX_STALENESS_MS).toBe(2_000);
  });

  test('needs the session itself, and not only what it left behind', async () => {
    const { readSubjectToken, session, store, loginTokens } = await createRig();
    await store.sessions.remove(session.hash);
    expect(await loginTokens.current(session.owner)).toMatchObject({ kind: 'token' });
    expect(await readSubjectToken(session.caller)).toBe('absent session');
  });

  test('is kept for nobody when a notice comes while it is read', async () => {
    const { readSubjectToken, session, sessions, duringRead, source } = await createRig();
    let ended = false;
    duringRead(async () => {
      if (ended) return;
      ended = true;
      await sessions.end(session.secret);
    });
    const slow = source.current(session.caller) as Promise<unknown>;
    await slow.catch(() => undefined);
    expect(await readSubjectToken(session.caller)).toBe('absent session');
  });

  test('is not shared with who asks after the notice', async () => {
    const { readSubjectToken, session, sessions, duringRead, reads } = await createRig();
    let pending: Promise<string> | undefined;
    duringRead(async () => {
      // After the last of the reads: what they said was true when they said it.
      if (reads.at(-1) !== 'tokens' || pending) return;
      await sessions.end(session.secret);
      pending = readSubjectToken(session.caller);
    });
    expect(await readSubjectToken(session.caller)).toBe('login');
    expect(await pending).toBe('absent session');
    expect(await readSubjectToken(session.caller)).toBe('absent session');
  });

  test('is not used when nobody can say that it still is theirs', async () => {
    const { source, callers, setDown, clock } = await createRig();
    for (const caller of callers) await source.current(caller);
    setDown(true);
    await clock.advance(MAX_STALENESS_MS - 1);
    for (const caller of callers) expect(source.current(caller)).not.toBeInstanceOf(Promise);
    await clock.advance(1);
    for (const caller of callers) {
      for (let i = 0; i < 2; i += 1) {
        await expect(source.current(caller)).rejects.toThrow('the store does not answer');
      }
    }
    setDown(false);
    for (const caller of callers) expect(await source.current(caller)).toBeDefined();
  });

  test('is there as soon as they have signed in', async () => {
    const { readSubjectToken, apiKey, createAccount, signInUser } = await createRig();
    const bob = await createAccount('u-bob');
    const key = apiKey(bob);
    expect(await readSubjectToken(key)).toBe('absent session');
    const { caller } = await signInUser(bob, 'over', { expiresAt: 0 });
    expect(await readSubjectToken(key)).toBe('expired_no_refresh session');
    expect(await readSubjectToken(caller)).toBe('expired_no_refresh session');
    // Without any notice.
    expect(await readSubjectToken((await signInUser(bob, 'fresh')).caller)).toBe('fresh');
    expect(await readSubjectToken(key)).toBe('fresh');
  });

  test('of one sign-in of very many costs few reads', async () => {
    const { readSubjectToken, createAccount, apiKey, signInUser, reads } = await createRig();
    const bob = await createAccount('u-bob');
    for (let i = 0; i < 40; i += 1) await signInUser(bob, `over ${i}`, { expiresAt: 0 });
    reads.length = 0;
    expect(await readSubjectToken(apiKey(bob))).toBe('expired_no_refresh session');
    expect(reads).toHaveLength(22);
  });
});
