import { describe, expect, test } from '@jest/globals';
import { createSubjectRig, HOUR_MS, SUBJECT_ISSUER } from '../../../test/subjectRig.ts';
import { toPrincipal } from '../../principal/principal.ts';
import { SubjectUnavailable } from './subject.ts';

const MINUTE_MS = 60_000;
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An ID token as a provider writes it; nobody here looks at its signature. */
function idToken(expiresAt: number, overrides: object = {}): string {
  const claims = {
    iss: SUBJECT_ISSUER,
    sub: 'sub-u-ada',
    aud: 'behalf',
    exp: expiresAt / 1000,
    ...overrides,
  };
  return `${part({ alg: 'RS256' })}.${part(claims)}.c2ln`;
}

describe('the ID token of a sign-in', () => {
  test('is what is exchanged, until it is over', async () => {
    const rig = await createSubjectRig();
    const expiresAt = rig.clock.now() + 30 * MINUTE_MS;
    const { caller } = await rig.signInUser(rig.ada, 'access', { idToken: idToken(expiresAt) });
    const subject = await rig.source.current(caller, 'id_token');
    expect(subject.token.reveal()).toBe(idToken(expiresAt));
    // A moment before: it has to be good when it gets there.
    expect(subject).toMatchObject({ subject: 'sub-u-ada', expiresAt: expiresAt - 10_000, via: 'session' });
    expect(await rig.source.current(caller)).toMatchObject({ expiresAt: expect.any(Number) });
    expect((await rig.source.current(caller)).token.reveal()).toBe('access');
    expect((await rig.source.current(caller)).hash).not.toBe(subject.hash);
  });

  test('is never what a request brought', async () => {
    const rig = await createSubjectRig();
    const brought = rig.bearer(rig.ada, 'presented');
    const none = await Promise.resolve(rig.source.current(brought, 'id_token')).catch(
      (error: unknown) => error,
    );
    expect(none).toBeInstanceOf(SubjectUnavailable);
    // A browser signs in; a program cannot mend it with another token.
    expect(none).toMatchObject({ reason: 'absent', via: 'session' });
    const storedToken = idToken(rig.clock.now() + HOUR_MS);
    await rig.signInUser(rig.ada, 'access', { idToken: storedToken });
    expect((await rig.source.current(brought, 'id_token')).token.reveal()).toBe(storedToken);
  });

  test('of a client is its own, and no other stands in for it', async () => {
    const rig = await createSubjectRig();
    const { ada, sessions, loginTokens, createTokens, source } = rig;
    const later = rig.clock.now() + HOUR_MS;
    const browser = await rig.signInUser(ada, 'access', { idToken: idToken(later, { of: 'the browser' }) });
    const client = toPrincipal(ada, { via: 'bearer', grant: { session: 'g1', clientId: 'c' } });
    const ask = () => Promise.resolve(source.current(client, 'id_token')).catch((error: unknown) => error);
    expect(await ask()).toMatchObject({ reason: 'absent', via: 'bearer' });
    const own = idToken(later, { of: 'the client' });
    const granted = { ...createTokens(ada, 'of the client'), idToken: own };
    await loginTokens.store({ ...browser.owner, session: 'g1' }, granted, later);
    await sessions.grant(ada, {
      ...{ hash: 'g1', groups: [], expiresAt: later },
      grant: { clientId: 'c', from: browser.hash },
    });
    expect((await source.current(client, 'id_token')).token.reveal()).toBe(own);
  });

  test('that speaks of somebody else, or says not until when, is not sent', async () => {
    const rig = await createSubjectRig();
    const later = rig.clock.now() + HOUR_MS;
    const wrong = [
      idToken(later, { sub: 'sub-u-eve' }),
      idToken(later, { iss: 'https://other.example' }),
      idToken(later, { exp: undefined }),
      'opaque',
      `${part({})}.bm90IGpzb24.c2ln`,
    ];
    for (const token of wrong) {
      const { caller } = await rig.signInUser(rig.ada, `access of ${token}`, { idToken: token });
      const found = await Promise.resolve(rig.source.current(caller, 'id_token')).catch(
        (error: unknown) => error,
      );
      expect([token, found]).toEqual([token, expect.any(SubjectUnavailable)]);
    }
  });

  test('is renewed with its sign-in when it is over', async () => {
    const answers: Record<string, unknown>[] = [];
    let requestCount = 0;
    const rig = await createSubjectRig({}, async () => {
      requestCount += 1;
      return Response.json(answers.shift() ?? { error: 'temporarily_unavailable' }, { status: 200 });
    });
    const createTokens = (n: number, id: string | undefined) => ({
      ...{
        access_token: `access-${n}`,
        refresh_token: `refresh-${n}`,
        token_type: 'Bearer',
        expires_in: 3600,
      },
      ...(id !== undefined && { id_token: id }),
    });
    const first = idToken(rig.clock.now() + 5 * MINUTE_MS);
    const { caller } = await rig.signInUser(rig.ada, 'access-1', {
      idToken: first,
      refreshToken: 'refresh-1',
    });
    await rig.clock.advance(6 * MINUTE_MS);
    const second = idToken(rig.clock.now() + 5 * MINUTE_MS);
    answers.push(createTokens(2, second));
    const both = await Promise.all([1, 2].map(async () => rig.source.current(caller, 'id_token')));
    expect(both.map(({ token }) => token.reveal())).toEqual([second, second]);
    expect(requestCount).toBe(1);

    // A provider that gives none with a renewal is asked once, and its user is told.
    await rig.clock.advance(6 * MINUTE_MS);
    answers.push(createTokens(3, undefined), createTokens(4, undefined), createTokens(5, undefined));
    for (let call = 0; call < 3; call += 1) {
      const over = await Promise.resolve(rig.source.current(caller, 'id_token')).catch(
        (error: unknown) => error,
      );
      expect(over).toMatchObject({ reason: 'expired_no_refresh', via: 'session' });
    }
    expect(requestCount).toBe(2);
  });

  test('of an API key is that of any sign-in that goes on', async () => {
    const rig = await createSubjectRig();
    const storedToken = idToken(rig.clock.now() + HOUR_MS);
    await rig.signInUser(rig.ada, 'access', { idToken: storedToken });
    const key = rig.apiKey(rig.ada);
    expect((await rig.source.current(key, 'id_token')).token.reveal()).toBe(storedToken);
    await rig.sessions.endAll(rig.ada);
    const ended = await Promise.resolve(rig.source.current(key, 'id_token')).catch((error: unknown) => error);
    expect(ended).toBeInstanceOf(SubjectUnavailable);
  });
});
