import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startIdJagRig, type IdJagRig } from './idJagRig.ts';
import { callWithToken, subjectSeenByServer } from './oboCaller.ts';
import {
  createReauthStatus,
  createSignedInVisitor,
  readSignIn,
  type OboVisitor,
} from './oboSignInVisitor.ts';

/** ID tokens that are over when they come, and a refresh token that is used up by every use. */
describe('enterprise-managed authorization by refresh token', () => {
  let rig: IdJagRig;
  let uma: OboVisitor;
  beforeAll(async () => {
    rig = await startIdJagRig({ subject: 'auto', idTokenSeconds: 5, rotateOnExchange: true });
    uma = await createSignedInVisitor(rig, 'uma');
  }, 60_000);
  afterAll(() => rig.close());

  test('a call reaches the server, and another needs no exchange', async () => {
    expect(subjectSeenByServer(await uma.call('wiki'))).toBe('uma');
    expect(rig.idp.requestLog.entries).toMatchObject([{ user: 'uma', status: 200 }]);
    expect(subjectSeenByServer(await uma.call('wiki'))).toBe('uma');
    // Of who came with a token, by the same sign-in; and never for another.
    expect(subjectSeenByServer(await callWithToken(rig, rig.mintToken('uma'), 'wiki'))).toBe('uma');
    expect(readSignIn(await callWithToken(rig, rig.mintToken('ada'), 'wiki'))).toEqual(
      createReauthStatus('absent', 'wiki'),
    );
    expect(rig.idp.requestLog.entries.every(({ user }) => user === 'uma')).toBe(true);
  });

  test('exchange after exchange, each with the one that is good now', async () => {
    const ada = await createSignedInVisitor(rig, 'ada');
    // The second leg fails twice: each attempt shows the provider a refresh token, and it takes each of them.
    rig.resourceServer.dropResponses(1);
    expect(subjectSeenByServer(await ada.call('wiki'))).toBe('ada');
    const requests = rig.idp.requestLog.entries.filter(({ user }) => user === 'ada');
    expect(requests.map(({ status }) => status)).toEqual([200, 200]);
    expect((await ada.call('wiki')).status).toBe(200);
  });

  test('a sign-out ends it', async () => {
    await uma.post('/api/auth/logout', {});
    expect((await uma.call('wiki')).status).toBe(401);
    expect(readSignIn(await callWithToken(rig, rig.mintToken('uma'), 'wiki'))).toEqual(
      createReauthStatus('absent', 'wiki'),
    );
  });
});
