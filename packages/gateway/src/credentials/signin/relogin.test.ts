import { aPrincipal } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeSignInRigs, createSignInServerRig, followRedirect } from '../../../test/signInRig.ts';

afterEach(closeSignInRigs);

/** Connected already. */
async function connected(...options: Parameters<typeof createSignInServerRig>) {
  const rig = await createSignInServerRig(...options);
  await rig.signIn('files');
  const key = rig.keyOf('files');
  const tokenNow = async () => {
    const outcome = await rig.vault.token(key);
    return outcome.kind === 'token' ? outcome.token.accessToken : outcome;
  };
  const before = await rig.store.credentials.find(key);
  if (!before) throw new Error('not connected');
  return { ...rig, key, before, tokenNow, first: await tokenNow() };
}

describe('signing in again', () => {
  test('a sign-in that fails leaves the grant before it as it was', async () => {
    const rig = await connected();
    rig.as.change({ consent: 'deny' });
    expect(await rig.signIn('files')).toMatchObject({ error: 'access_denied' });
    rig.as.change({ consent: 'approve' });
    rig.as.respondNext('token', { status: 400, body: { error: 'invalid_grant' } });
    expect(await rig.signIn('files')).toMatchObject({ error: 'code_refused' });
    rig.as.respondNext('token', { status: 500, body: 'oops' });
    expect(await rig.signIn('files')).toMatchObject({ error: 'token_exchange_failed' });
    rig.as.respondNext('token', { status: 200, body: { access_token: 7 } });
    expect(await rig.signIn('files')).toMatchObject({ error: 'token_exchange_failed' });
    rig.as.respondNext('token', { status: 200, body: { access_token: 'x', token_type: 'N_A' } });
    expect(await rig.signIn('files')).toMatchObject({ error: 'token_exchange_failed' });
    await rig.startSignIn('files');
    await rig.flows.cancel(rig.allowedServer('files'), aPrincipal());
    expect(await rig.tokenNow()).toBe(rig.first);
    expect(await rig.store.credentials.find(rig.key)).toMatchObject({
      generation: rig.before.generation,
      status: 'active',
    });
  });

  test('one that succeeds takes its place under the same id', async () => {
    const rig = await connected({ authorization: { revocation: 'grant' } });
    expect(await rig.signIn('files')).toMatchObject({ ok: true });
    const after = await rig.store.credentials.find(rig.key);
    expect(after).toMatchObject({ id: rig.before.id, generation: rig.before.generation + 1 });
    const now = await rig.tokenNow();
    expect(now).not.toBe(rig.first);
    // Revoking the old one would have ended the new one with it.
    expect(rig.as.counters.revocations).toBe(0);
    expect(rig.as.inspect(now as string)).toBeDefined();
  });

  test('of two at once the first to end counts', async () => {
    const rig = await connected();
    const { opened, flowId } = await rig.startSignIn('files');
    const back = await followRedirect(opened.url);
    await rig.vault.disconnect(rig.key);
    expect(await rig.finishSignIn(back)).toMatchObject({ ok: false, error: 'superseded', flowId });
    expect(await rig.vault.token(rig.key)).toMatchObject({ kind: 'needs_reauth', reason: 'revoked' });
  });

  test('what became of the revocation is told as it was', async () => {
    for (const [revocation, revoked] of [
      ['token', 'yes'],
      ['fail', 'failed'],
      ['off', 'unsupported'],
    ] as const) {
      const rig = await connected({ authorization: { revocation } });
      expect(await rig.vault.disconnect(rig.key)).toEqual({ existed: true, revoked });
      expect(await rig.vault.token(rig.key)).toMatchObject({ kind: 'needs_reauth', reason: 'revoked' });
      expect(rig.as.inspect(rig.first as string) === undefined).toBe(revocation === 'token');
    }
    const rig = await createSignInServerRig();
    expect(await rig.vault.disconnect(rig.keyOf('files'))).toEqual({ existed: false, revoked: 'none' });
  });
});
