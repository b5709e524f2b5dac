import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startIdJagRig, WIKI_CLIENT, type IdJagRig } from './idJagRig.ts';
import { callWithToken, subjectSeenByServer } from './oboCaller.ts';
import {
  createReauthStatus,
  createSignedInVisitor,
  readSignIn,
  type OboVisitor,
} from './oboSignInVisitor.ts';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

describe('enterprise-managed authorization', () => {
  let rig: IdJagRig;
  let uma: OboVisitor;
  beforeAll(async () => {
    rig = await startIdJagRig();
    uma = await createSignedInVisitor(rig, 'uma');
  }, 60_000);
  afterAll(() => rig.close());

  test('a call reaches somebody else’s server, and nobody is sent anywhere', async () => {
    const first = await uma.call('wiki');
    expect([first.status, subjectSeenByServer(first)]).toEqual([200, 'uma']);
    // One request for each leg, and the second of them at the server's own authorization server.
    expect(rig.idp.requestLog.entries).toHaveLength(1);
    expect(rig.idp.requestLog.entries[0]).toMatchObject({ grant: TOKEN_EXCHANGE, user: 'uma', status: 200 });
    expect(rig.resourceServer.requests).toMatchObject([{ client: WIKI_CLIENT, user: 'uma', status: 200 }]);
    expect(rig.otherAuthorizationServer.requests).toEqual([]);
    expect(rig.idp.requestLog.signIns).toHaveLength(1);
    // The token of the second leg is kept as any other, and the assertion is not.
    expect(subjectSeenByServer(await uma.call('wiki'))).toBe('uma');
    expect(rig.resourceServer.requests).toHaveLength(1);
    expect(rig.idp.requestLog.entries).toHaveLength(1);
  });

  test('who the provider’s policy leaves out gets nothing', async () => {
    const gil = await createSignedInVisitor(rig, 'gil');
    expect(readSignIn(await gil.call('wiki'))).toMatchObject({ code: 'needs_reauth', server: 'wiki' });
    expect(rig.resourceServer.requests.map(({ user }) => user)).not.toContain('gil');
  });

  test('a token that a request brought is no ID token', async () => {
    const requestCount = rig.idp.requestLog.entries.length;
    // Ada never signed in here: her token proves who she is, and nothing is exchanged for it.
    const called = await callWithToken(rig, rig.mintToken('ada'), 'wiki');
    expect(readSignIn(called)).toEqual(createReauthStatus('absent', 'wiki'));
    expect(rig.idp.requestLog.entries).toHaveLength(requestCount);
    // Uma did, and her own sign-in speaks for her.
    expect(subjectSeenByServer(await callWithToken(rig, rig.mintToken('uma'), 'wiki'))).toBe('uma');
  });

  test('after a lost answer another assertion is sent, never the same', async () => {
    const ada = await createSignedInVisitor(rig, 'ada');
    rig.resourceServer.dropResponses(1);
    expect(subjectSeenByServer(await ada.call('wiki'))).toBe('ada');
    const jtis = rig.resourceServer.requests.filter(({ user }) => user === 'ada').map(({ jti }) => jti);
    expect(jtis).toHaveLength(2);
    expect(new Set(jtis).size).toBe(2);
  });

  test('a sign-out ends it', async () => {
    await uma.post('/api/auth/logout', {});
    expect((await uma.call('wiki')).status).toBe(401);
    expect(readSignIn(await callWithToken(rig, rig.mintToken('uma'), 'wiki'))).toEqual(
      createReauthStatus('absent', 'wiki'),
    );
  });
});
