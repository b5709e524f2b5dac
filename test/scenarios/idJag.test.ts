import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startIdJagScene, WIKI_CLIENT, type IdJagScene } from './idJagScene.ts';
import { callWith, seenBy } from './oboCaller.ts';
import { needsReauth, signedInAt, signInOf, type OboVisitor } from './oboSignInVisitor.ts';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

describe('enterprise-managed authorization', () => {
  let scene: IdJagScene;
  let uma: OboVisitor;
  beforeAll(async () => {
    scene = await startIdJagScene();
    uma = await signedInAt(scene, 'uma');
  }, 60_000);
  afterAll(() => scene.close());

  test('a call reaches somebody else’s server, and nobody is sent anywhere', async () => {
    const first = await uma.call('wiki');
    expect([first.status, seenBy(first)]).toEqual([200, 'uma']);
    // One request for each leg, and the second of them at the server's own authorization server.
    expect(scene.idp.requests.entries).toHaveLength(1);
    expect(scene.idp.requests.entries[0]).toMatchObject({ grant: TOKEN_EXCHANGE, user: 'uma', status: 200 });
    expect(scene.as.requests).toMatchObject([{ client: WIKI_CLIENT, user: 'uma', status: 200 }]);
    expect(scene.otherAs.requests).toEqual([]);
    expect(scene.idp.requests.signIns).toHaveLength(1);
    // The token of the second leg is kept as any other, and the assertion is not.
    expect(seenBy(await uma.call('wiki'))).toBe('uma');
    expect(scene.as.requests).toHaveLength(1);
    expect(scene.idp.requests.entries).toHaveLength(1);
  });

  test('who the provider’s policy leaves out gets nothing', async () => {
    const gil = await signedInAt(scene, 'gil');
    expect(signInOf(await gil.call('wiki'))).toMatchObject({ code: 'needs_reauth', server: 'wiki' });
    expect(scene.as.requests.map(({ user }) => user)).not.toContain('gil');
  });

  test('a token that a request brought is no ID token', async () => {
    const asked = scene.idp.requests.entries.length;
    // Ada never signed in here: her token proves who she is, and nothing is exchanged for it.
    const called = await callWith(scene, scene.token('ada'), 'wiki');
    expect(signInOf(called)).toEqual(needsReauth('absent', 'wiki'));
    expect(scene.idp.requests.entries).toHaveLength(asked);
    // Uma did, and her own sign-in speaks for her.
    expect(seenBy(await callWith(scene, scene.token('uma'), 'wiki'))).toBe('uma');
  });

  test('after a lost answer another assertion is sent, never the same', async () => {
    const ada = await signedInAt(scene, 'ada');
    scene.as.dropResponses(1);
    expect(seenBy(await ada.call('wiki'))).toBe('ada');
    const jtis = scene.as.requests.filter(({ user }) => user === 'ada').map(({ jti }) => jti);
    expect(jtis).toHaveLength(2);
    expect(new Set(jtis).size).toBe(2);
  });

  test('a sign-out ends it', async () => {
    await uma.post('/api/auth/logout', {});
    expect((await uma.call('wiki')).status).toBe(401);
    expect(signInOf(await callWith(scene, scene.token('uma'), 'wiki'))).toEqual(
      needsReauth('absent', 'wiki'),
    );
  });
});
