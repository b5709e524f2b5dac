import { aPrincipal } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeSignInRigs, signInScene, visit } from '../../../../test/signInRig.ts';

afterEach(closeSignInRigs);

/** Connected already. */
async function connected(...options: Parameters<typeof signInScene>) {
  const scene = await signInScene(...options);
  await scene.signIn('files');
  const key = scene.keyOf('files');
  const tokenNow = async () => {
    const outcome = await scene.vault.token(key);
    return outcome.kind === 'token' ? outcome.token.accessToken : outcome;
  };
  const before = await scene.store.credentials.find(key);
  if (!before) throw new Error('not connected');
  return { ...scene, key, before, tokenNow, first: await tokenNow() };
}

describe('signing in again', () => {
  test('a sign-in that fails leaves the grant before it as it was', async () => {
    const scene = await connected();
    scene.as.change({ consent: 'deny' });
    expect(await scene.signIn('files')).toMatchObject({ error: 'access_denied' });
    scene.as.change({ consent: 'approve' });
    scene.as.respondNext('token', { status: 400, body: { error: 'invalid_grant' } });
    expect(await scene.signIn('files')).toMatchObject({ error: 'code_refused' });
    scene.as.respondNext('token', { status: 500, body: 'oops' });
    expect(await scene.signIn('files')).toMatchObject({ error: 'token_exchange_failed' });
    scene.as.respondNext('token', { status: 200, body: { access_token: 7 } });
    expect(await scene.signIn('files')).toMatchObject({ error: 'token_exchange_failed' });
    scene.as.respondNext('token', { status: 200, body: { access_token: 'x', token_type: 'N_A' } });
    expect(await scene.signIn('files')).toMatchObject({ error: 'token_exchange_failed' });
    await scene.leave('files');
    await scene.flows.cancel(scene.serverOf('files'), aPrincipal());
    expect(await scene.tokenNow()).toBe(scene.first);
    expect(await scene.store.credentials.find(scene.key)).toMatchObject({
      generation: scene.before.generation,
      status: 'active',
    });
  });

  test('one that succeeds takes its place under the same id', async () => {
    const scene = await connected({ authorization: { revocation: 'grant' } });
    expect(await scene.signIn('files')).toMatchObject({ ok: true });
    const after = await scene.store.credentials.find(scene.key);
    expect(after).toMatchObject({ id: scene.before.id, generation: scene.before.generation + 1 });
    const now = await scene.tokenNow();
    expect(now).not.toBe(scene.first);
    // Revoking the old one would have ended the new one with it.
    expect(scene.as.counters.revocations).toBe(0);
    expect(scene.as.inspect(now as string)).toBeDefined();
  });

  test('of two at once the first to end counts', async () => {
    const scene = await connected();
    const { opened, flowId } = await scene.leave('files');
    const back = await visit(opened.url);
    await scene.vault.disconnect(scene.key);
    expect(await scene.finish(back)).toMatchObject({ ok: false, error: 'superseded', flowId });
    expect(await scene.vault.token(scene.key)).toMatchObject({ kind: 'needs_reauth', reason: 'revoked' });
  });

  test('what became of the revocation is told as it was', async () => {
    for (const [revocation, revoked] of [
      ['token', 'yes'],
      ['fail', 'failed'],
      ['off', 'unsupported'],
    ] as const) {
      const scene = await connected({ authorization: { revocation } });
      expect(await scene.vault.disconnect(scene.key)).toEqual({ existed: true, revoked });
      expect(await scene.vault.token(scene.key)).toMatchObject({ kind: 'needs_reauth', reason: 'revoked' });
      expect(scene.as.inspect(scene.first as string) === undefined).toBe(revocation === 'token');
    }
    const scene = await signInScene();
    expect(await scene.vault.disconnect(scene.keyOf('files'))).toEqual({ existed: false, revoked: 'none' });
  });
});
