import { LightCancellation } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import { createSubjectRig, HOUR_MS, SUBJECT_ISSUER } from '../../../test/subjectRig.ts';
import { loginCredentialKey } from '../../identity/signInSessions.ts';
import { credentialId } from '../../ports/index.ts';
import { toPrincipal, type Principal } from '../../principal/principal.ts';
import { SubjectUnavailable, type Subject, type SubjectKind } from './subject.ts';

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const idToken = (expiresAt: number) =>
  `${part({ alg: 'RS256' })}.${part({ iss: SUBJECT_ISSUER, sub: 'sub-u-ada', exp: expiresAt / 1000 })}.c2ln`;

async function createRig() {
  let pairs = 1;
  const rig = await createSubjectRig({}, async () => {
    pairs += 1;
    const tokens = { access_token: `access-${pairs}`, refresh_token: `refresh-${pairs}` };
    return Response.json({ ...tokens, token_type: 'Bearer', expires_in: 3600 });
  });
  const find = async (caller: Principal, kind: SubjectKind = 'refresh_token') =>
    Promise.resolve(rig.source.current(caller, kind)).catch((error: unknown) => error);
  const subjectOf = async (caller: Principal, kind: SubjectKind = 'refresh_token'): Promise<Subject> => {
    const found = await find(caller, kind);
    if (found instanceof Error) throw found;
    return found as Subject;
  };
  /** What would be sent; or why nothing is. */
  const sent = async (subject: Subject, rotatedToken?: string): Promise<string> => {
    const used = await subject.withRefreshToken!(new LightCancellation(), async (borrowed) => ({
      value: borrowed.reveal().reveal(),
      rotatedToken,
    }));
    return used.kind === 'used' ? used.value : used.kind;
  };
  return { ...rig, find, subjectOf, sent };
}

describe('the refresh token of a sign-in', () => {
  test('is lent, and shown to nobody', async () => {
    const rig = await createRig();
    const { caller, expiresAt } = await rig.signInUser(rig.ada, 'access-1', { refreshToken: 'refresh-1' });
    const subject = await rig.subjectOf(caller);
    expect(subject).toMatchObject({
      issuer: SUBJECT_ISSUER,
      subject: 'sub-u-ada',
      expiresAt,
      via: 'session',
    });
    expect(JSON.stringify(subject)).not.toContain('refresh-1');
    expect(() => subject.token.reveal()).toThrow('not available');
    expect(await rig.sent(subject)).toBe('refresh-1');
  });

  test('is taken with `auto` once the ID token is over', async () => {
    const rig = await createRig();
    const short = idToken(rig.clock.now() + 60_000);
    const { caller } = await rig.signInUser(rig.ada, 'access-1', {
      refreshToken: 'refresh-1',
      idToken: short,
    });
    const first = await rig.subjectOf(caller, 'id_or_refresh_token');
    expect([first.withRefreshToken, first.token.reveal()]).toEqual([undefined, short]);
    await rig.clock.advance(60_000);
    const then = await rig.subjectOf(caller, 'id_or_refresh_token');
    expect(await rig.sent(then)).toBe('refresh-1');
    const none = await rig.signInUser(rig.ada, 'access', { idToken: idToken(1) });
    expect(await rig.find(none.caller, 'id_or_refresh_token')).toMatchObject({
      reason: 'expired_no_refresh',
    });
  });

  test('is never what a request brought', async () => {
    const rig = await createRig();
    const brought = rig.bearer(rig.ada, 'presented');
    expect(await rig.find(brought)).toMatchObject({ reason: 'absent', via: 'session' });
    await rig.signInUser(rig.ada, 'access-1', { refreshToken: 'refresh-1' });
    expect(await rig.sent(await rig.subjectOf(brought))).toBe('refresh-1');
  });

  test('is nobody else’s, whoever’s row it lies in', async () => {
    const rig = await createRig();
    const bob = await rig.createAccount('u-bob');
    const victim = await rig.signInUser(bob, 'access-bob', { refreshToken: 'refresh-bob' });
    const record = (await rig.store.credentials.find(loginCredentialKey(victim.owner)))!;
    const { hash } = await rig.sessions.start(rig.ada, { via: 'openid', groups: [] });
    const key = loginCredentialKey({ tenant: rig.ada.tenant, userId: rig.ada.id, session: hash });
    const bound = { canonicalUrl: `login:${rig.ada.subject}` };
    await rig.store.credentials.insert({ ...record, ...bound, ...key, id: credentialId(key) });
    expect(await rig.find(toPrincipal(rig.ada, { via: 'session', session: hash }))).toBeInstanceOf(
      SubjectUnavailable,
    );
    expect(await rig.find(toPrincipal(rig.ada, { via: 'session', session: victim.hash }))).toBeInstanceOf(
      SubjectUnavailable,
    );
    const client = toPrincipal(rig.ada, { via: 'bearer', grant: { session: 'g1', clientId: 'c' } });
    await rig.signInUser(rig.ada, 'access-1', { refreshToken: 'refresh-1' });
    expect(await rig.find(client)).toMatchObject({ reason: 'absent', via: 'bearer' });
  });

  test('is not to be had after a sign-out, by who holds on to it either', async () => {
    const rig = await createRig();
    const { caller, secret } = await rig.signInUser(rig.ada, 'access-1', { refreshToken: 'refresh-1' });
    const subject = await rig.subjectOf(caller);
    await rig.sessions.end(secret);
    expect(await rig.find(caller)).toBeInstanceOf(SubjectUnavailable);
    expect(await rig.find(rig.apiKey(rig.ada))).toBeInstanceOf(SubjectUnavailable);
    expect(await rig.sent(subject)).toBe('absent');
  });

  test('is one subject through its rotations, and another with each sign-in', async () => {
    const rig = await createRig();
    const one = await rig.signInUser(rig.ada, 'access-1', { refreshToken: 'refresh-1' });
    const other = await rig.signInUser(rig.ada, 'access-1', { refreshToken: 'refresh-1' });
    const first = await rig.subjectOf(one.caller);
    expect(await rig.sent(first, 'refresh-after-exchange')).toBe('refresh-1');
    expect(await rig.sent(first)).toBe('refresh-after-exchange');
    // A renewal of the sign-in gives yet another.
    await rig.clock.advance(HOUR_MS);
    const later = await rig.subjectOf(one.caller);
    expect(await rig.sent(later)).toBe('refresh-2');
    expect(later.hash).toBe(first.hash);
    expect((await rig.subjectOf(other.caller)).hash).not.toBe(first.hash);
  });
});
