import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createSubjectRig, HOUR_MS, SUBJECT_ISSUER } from '../../../test/subjectRig.ts';
import { loginCredentialKey } from '../../identity/signInSessions.ts';
import { credentialId } from '../../ports/index.ts';
import { toPrincipal, type Principal, type UserPrincipal } from '../../principal/principal.ts';
import { createSubjectSource } from './subjectSource.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

describe('the token of a caller', () => {
  test('is the one they presented', async () => {
    const { source, bearer, ada, clock } = await createSubjectRig();
    const subject = await source.current(bearer(ada, 'shown'));
    expect(subject).toEqual({
      ...{ issuer: SUBJECT_ISSUER, subject: 'sub-u-ada', token: expect.anything(), hash: sha256('shown') },
      ...{ expiresAt: clock.now() + HOUR_MS, via: 'bearer' },
    });
    expect(subject.token.reveal()).toBe('shown');
  });

  test('is good until its very end, and not a moment longer', async () => {
    const { readSubjectToken, bearer, ada, clock } = await createSubjectRig();
    const caller = bearer(ada, 'shown');
    await clock.advance(HOUR_MS - 1);
    expect(await readSubjectToken(caller)).toBe('shown');
    await clock.advance(1);
    expect(await readSubjectToken(caller)).toBe('expired_no_refresh bearer');
  });

  test('is none without one, of another issuer, or of a program', async () => {
    const { readSubjectToken, bearer, ada, signInUser, reads } = await createSubjectRig();
    // A sign-in of theirs does not stand in for it.
    await signInUser(ada, 'login');
    expect(await readSubjectToken(toPrincipal(ada, { via: 'bearer' }))).toBe('absent bearer');
    expect(await readSubjectToken(bearer(ada, 'shown', { issuer: 'https://other.example' }))).toBe(
      'absent bearer',
    );
    const program: Principal = { ...bearer(ada, 'shown'), kind: 'service' };
    expect(await readSubjectToken(program)).toBe('absent bearer');
    expect(reads).toEqual([]);
  });

  test('is that of the session they come with, and of no other', async () => {
    const { readSubjectToken, ada, signInUser, source, clock } = await createSubjectRig();
    const first = await signInUser(ada, 'first', { expiresAt: clock.now() + 60_000 });
    const second = await signInUser(ada, 'second');
    expect(await readSubjectToken(first.caller)).toBe('first');
    expect(await readSubjectToken(second.caller)).toBe('second');
    expect(await source.current(second.caller)).toMatchObject({
      ...{ issuer: SUBJECT_ISSUER, subject: 'sub-u-ada', hash: sha256('second'), via: 'session' },
      expiresAt: clock.now() - 1 + HOUR_MS,
    });
    await clock.advance(60_000);
    expect(await readSubjectToken(first.caller)).toBe('expired_no_refresh session');
    expect(await readSubjectToken(second.caller)).toBe('second');
  });

  test('is used to its end where nothing can renew it, and not beyond', async () => {
    const { readSubjectToken, ada, signInUser, clock } = await createSubjectRig();
    const { caller } = await signInUser(ada, 'login', { expiresAt: clock.now() + HOUR_MS });
    await clock.advance(HOUR_MS - 2);
    expect(await readSubjectToken(caller)).toBe('login');
    await clock.advance(1);
    expect(await readSubjectToken(caller)).toBe('expired_no_refresh session');
  });

  test('is none for who signed in with a password, or is nobody', async () => {
    const { readSubjectToken, ada, createAccount, sessions, signInUser, reads } = await createSubjectRig();
    const local = await createAccount('u-local', { issuer: 'local' });
    const { caller } = await signInUser(local, 'planted');
    expect(await readSubjectToken(caller)).toBe('absent session');
    expect(reads).toEqual([]);
    const byPassword = await sessions.start(ada);
    expect(await readSubjectToken(toPrincipal(ada, { via: 'session', session: byPassword.hash }))).toBe(
      'absent session',
    );
    expect(await readSubjectToken(toPrincipal(ada, { via: 'session', session: 'made up' }))).toBe(
      'absent session',
    );
  });

  test('of a client is what was granted to it, and nobody else’s', async () => {
    const { readSubjectToken, ada, signInUser, sessions, loginTokens, createTokens, apiKey } =
      await createSubjectRig();
    const browser = await signInUser(ada, 'of the browser');
    const client = async (hash: string, text: string) => {
      const expiresAt = browser.expiresAt;
      await loginTokens.store({ ...browser.owner, session: hash }, createTokens(ada, text), expiresAt);
      await sessions.grant(ada, {
        hash,
        groups: [],
        expiresAt,
        grant: { clientId: 'c', from: browser.hash },
      });
      return toPrincipal(ada, { via: 'bearer', grant: { session: hash, clientId: 'c' } });
    };
    const one = await client('g1', 'of one');
    const other = await client('g2', 'of the other');
    expect([
      await readSubjectToken(one),
      await readSubjectToken(other),
      await readSubjectToken(browser.caller),
    ]).toEqual([...['of one', 'of the other', 'of the browser']]);
    expect(await readSubjectToken(apiKey(ada))).toBe('of the browser');
    // Of a key, only a sign-in counts: what belongs to a client is out of its reach.
    await sessions.endByHash(ada.id, 'g1');
    expect([await readSubjectToken(one), await readSubjectToken(other)]).toEqual([
      'absent bearer',
      'of the other',
    ]);
    // Whoever signs out ends what was granted during that sign-in.
    await sessions.end(browser.secret);
    expect([await readSubjectToken(other), await readSubjectToken(apiKey(ada))]).toEqual([
      'absent bearer',
      'absent session',
    ]);
  });

  test('of a client is never a key’s', async () => {
    const { readSubjectToken, ada, sessions, loginTokens, createTokens, apiKey, clock } =
      await createSubjectRig();
    const expiresAt = clock.now() + HOUR_MS;
    const of = { tenant: ada.tenant, userId: ada.id, session: 'g1' };
    await loginTokens.store(of, createTokens(ada, 'of a client'), expiresAt);
    await sessions.grant(ada, { hash: 'g1', groups: [], expiresAt, grant: { clientId: 'c', from: '' } });
    expect(await readSubjectToken(apiKey(ada))).toBe('absent session');
  });

  test('speaks of their own account', async () => {
    const { readSubjectToken, ada, createAccount, signInUser, bearer } = await createSubjectRig();
    const bob = await createAccount('u-bob');
    const wrong = [{ subject: bob.subject }, { issuer: 'https://other.example' }];
    for (const more of wrong) {
      expect(await readSubjectToken((await signInUser(ada, 'of somebody else', more)).caller)).toBe(
        'absent session',
      );
    }
    expect(await readSubjectToken(bearer(ada, 'shown', { subject: bob.subject }))).toBe('absent bearer');
  });

  test('does not open in the row of another user or session', async () => {
    const { readSubjectToken, ada, createAccount, signInUser, sessions, store } = await createSubjectRig();
    const bob = await createAccount('u-bob');
    const victim = await signInUser(bob, 'of bob');
    const record = (await store.credentials.find(loginCredentialKey(victim.owner)))!;
    const { hash } = await sessions.start(ada, { via: 'openid', groups: [] });
    const key = loginCredentialKey({ tenant: ada.tenant, userId: ada.id, session: hash });
    const bound = { canonicalUrl: `login:${ada.subject}` };
    await store.credentials.insert({ ...record, ...bound, ...key, id: credentialId(key) });
    expect(await readSubjectToken(toPrincipal(ada, { via: 'session', session: hash }))).toBe(
      'absent session',
    );
    // Nor is a session of somebody else's theirs because they say so.
    expect(await readSubjectToken(toPrincipal(ada, { via: 'session', session: victim.hash }))).toBe(
      'absent session',
    );
  });

  test('is none once the account is disabled, deleted or another', async () => {
    const { readSubjectToken, ada, createAccount, signInUser, bearer, apiKey, store, parts, clock } =
      await createSubjectRig();
    const { caller } = await signInUser(ada, 'login');
    const callers = [caller, bearer(ada, 'shown'), apiKey(ada)];
    for (const one of callers) expect(await readSubjectToken(one)).toMatch(/^login|shown$/);
    await store.users.update(ada.id, { disabledAt: clock.now() }, clock.now());
    await store.changes.publish({ topic: 'users', id: ada.id });
    for (const one of callers) expect(await readSubjectToken(one)).toMatch(/^absent /);

    const otherTenant = {
      ...(await signInUser(await createAccount('u-eve'), 'of eve')).caller,
      tenant: 'other',
    };
    expect(await readSubjectToken(otherTenant)).toBe('absent session');
    const sourceWithoutUser = createSubjectSource({ ...parts, users: { findById: async () => null } });
    await expect(sourceWithoutUser.current(otherTenant)).rejects.toMatchObject({ reason: 'absent' });
  });

  test('is not that of who signed in by the same means before', async () => {
    const { readSubjectToken, ada, createAccount, signInUser, bearer } = await createSubjectRig();
    const bob = await createAccount('u-bob');
    for (const known of [(await signInUser(ada, 'of ada')).caller, bearer(ada, 'of ada')]) {
      expect(await readSubjectToken(known)).toBe('of ada');
      for (const other of [{ tenant: 'other' }, { userId: bob.id }]) {
        expect(await readSubjectToken({ ...known, ...other })).toMatch(/^absent /);
      }
      expect(await readSubjectToken(known)).toBe('of ada');
    }
  });

  test('is never one that came along with the request', async () => {
    const { source, readSubjectToken, ada, signInUser, bearer } = await createSubjectRig();
    // Who is calling is all there is to say.
    expect(createSubjectSource.length + source.current.length).toBe(2);
    const { caller } = await signInUser(ada, 'login');
    const { token } = bearer(ada, 'smuggled').authentication as { token: object };
    const smuggled = {
      ...caller,
      by: { ...caller.authentication, token },
      token: 'smuggled',
      accessToken: 'smuggled',
    };
    expect(await readSubjectToken(smuggled as UserPrincipal)).toBe('login');
  });

  test('is told to be absent without opening one', async () => {
    const { source, ada, signInUser, apiKey, bearer, clock } = await createSubjectRig();
    const key = apiKey(ada, ['mcp', 'obo']);
    expect(await source.checkSubject(key)).toBe('absent');
    const { caller } = await signInUser(ada, 'login');
    const shown = bearer(ada, 'shown');
    for (const one of [caller, key, shown]) expect(await source.checkSubject(one)).toBeUndefined();
    expect(await source.checkSubject(apiKey(ada, ['mcp']))).toBe('absent');
    expect(await source.checkSubject({ ...caller, issuer: 'local' })).toBe('absent');
    await clock.advance(HOUR_MS);
    expect(await source.checkSubject(shown)).toBe('expired_no_refresh');
  });

  test('needs the scope, and says so', async () => {
    const { readSubjectToken, ada, signInUser, apiKey, reads } = await createSubjectRig();
    await signInUser(ada, 'login');
    for (const scopes of [[], ['mcp'], ['mcp', 'servers', 'admin']]) {
      expect(await readSubjectToken(apiKey(ada, scopes))).toBe(
        'API_KEY_SCOPE The API key needs the scope "obo".',
      );
    }
    expect(reads).toEqual([]);
    expect(await readSubjectToken(apiKey(ada, ['obo']))).toBe('login');
  });

  test('is that of the youngest sign-in that is good', async () => {
    const { readSubjectToken, ada, createAccount, signInUser, apiKey, sessions, clock } =
      await createSubjectRig();
    expect(await readSubjectToken(apiKey(ada))).toBe('absent session');
    const old = await signInUser(ada, 'old');
    expect(await readSubjectToken(apiKey(ada))).toBe('old');
    const young = await signInUser(ada, 'young');
    // A shorter one on top, of a password, and somebody else's: none of them counts.
    await signInUser(ada, 'over', { expiresAt: clock.now() + 1_000 });
    await sessions.start(ada);
    await signInUser(await createAccount('u-bob'), 'of bob');
    await clock.advance(2_000);
    expect(await readSubjectToken(apiKey(ada))).toBe('young');
    await sessions.end(young.secret);
    expect(await readSubjectToken(apiKey(ada))).toBe('old');
    await sessions.end(old.secret);
    expect(await readSubjectToken(apiKey(ada))).toBe('expired_no_refresh session');
    await sessions.endAll(ada);
    expect(await readSubjectToken(apiKey(ada))).toBe('absent session');
  });

  test('is none of a local account', async () => {
    const { readSubjectToken, createAccount, apiKey } = await createSubjectRig();
    expect(await readSubjectToken(apiKey(await createAccount('u-local', { issuer: 'local' })))).toBe(
      'absent session',
    );
  });

  test('is nobody’s where there is no provider, or another now', async () => {
    const absent = async () => ({ kind: 'absent' as const });
    const tokens = { current: absent, renew: absent, withRefreshToken: absent };
    for (const login of [null, { issuer: 'https://new.example', tokens }]) {
      const { readSubjectToken, ada, signInUser, apiKey, bearer } = await createSubjectRig({ login });
      expect(await readSubjectToken((await signInUser(ada, 'login')).caller)).toBe('absent session');
      expect(await readSubjectToken(apiKey(ada))).toBe('absent session');
      expect(await readSubjectToken(bearer(ada, 'shown'))).toBe('absent bearer');
    }
  });
});
