import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startIdJagScene, type IdJagScene } from './idJagScene.ts';
import { callWith, seenBy } from './oboCaller.ts';
import { needsReauth, signedInAt, signInOf, type OboVisitor } from './oboSignInVisitor.ts';

/** ID tokens that are over when they come, and a refresh token that is used up by every use. */
describe('enterprise-managed authorization by refresh token', () => {
  let scene: IdJagScene;
  let uma: OboVisitor;
  beforeAll(async () => {
    scene = await startIdJagScene({ subject: 'auto', idTokenSeconds: 5, rotateOnExchange: true });
    uma = await signedInAt(scene, 'uma');
  }, 60_000);
  afterAll(() => scene.close());

  test('a call reaches the server, and another needs no exchange', async () => {
    expect(seenBy(await uma.call('wiki'))).toBe('uma');
    expect(scene.idp.requests.entries).toMatchObject([{ user: 'uma', status: 200 }]);
    expect(seenBy(await uma.call('wiki'))).toBe('uma');
    // Of who came with a token, by the same sign-in; and never for another.
    expect(seenBy(await callWith(scene, scene.token('uma'), 'wiki'))).toBe('uma');
    expect(signInOf(await callWith(scene, scene.token('ada'), 'wiki'))).toEqual(
      needsReauth('absent', 'wiki'),
    );
    expect(scene.idp.requests.entries.every(({ user }) => user === 'uma')).toBe(true);
  });

  test('exchange after exchange, each with the one that is good now', async () => {
    const ada = await signedInAt(scene, 'ada');
    // The second leg fails twice: each attempt shows the provider a refresh token, and it takes each of them.
    scene.as.dropResponses(1);
    expect(seenBy(await ada.call('wiki'))).toBe('ada');
    const asked = scene.idp.requests.entries.filter(({ user }) => user === 'ada');
    expect(asked.map(({ status }) => status)).toEqual([200, 200]);
    expect((await ada.call('wiki')).status).toBe(200);
  });

  test('a sign-out ends it', async () => {
    await uma.post('/api/auth/logout', {});
    expect((await uma.call('wiki')).status).toBe(401);
    expect(signInOf(await callWith(scene, scene.token('uma'), 'wiki'))).toEqual(
      needsReauth('absent', 'wiki'),
    );
  });
});
