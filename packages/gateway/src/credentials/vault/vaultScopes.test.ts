import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeVaultRigs,
  expectHeldToken,
  HOUR_S,
  credentialKey,
  createVaultRig,
} from '../../../test/vaultRig.ts';

afterEach(closeVaultRigs);

const HOUR = HOUR_S * 1_000;

describe('scopes of a credential', () => {
  test('a refresh asks for none, so that it loses none', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey())));
    const [refresh] = rig.server
      .received('token')
      .filter(({ form }) => form['grant_type'] === 'refresh_token');
    expect(refresh?.form).not.toHaveProperty('scope');
    expect(await rig.record()).toMatchObject({ generation: 1, scopesGranted: 'read write' });
  });

  test('a new sign-in that grants less has less from then on', async () => {
    const rig = await createVaultRig({ authorization: { omitScope: true } });
    await rig.signIn();
    const before = await rig.record();
    await rig.signIn(credentialKey(), { scope: 'read' });
    const after = await rig.record();
    expect(after).toMatchObject({ id: before.id, generation: before.generation + 1, scopesGranted: 'read' });
    // Nothing of the generation before comes back with a refresh.
    await rig.clock.advance(HOUR);
    expect(expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).scopes).toBe(
      'read',
    );
    expect(await rig.record()).toMatchObject({ scopesGranted: 'read', tokenSeq: after.tokenSeq + 1 });
  });

  test('what an answer names is what was granted, also when it is less', async () => {
    const rig = await createVaultRig();
    await rig.signIn();
    await rig.clock.advance(HOUR);
    rig.server.respondNext('token', {
      status: 200,
      body: { access_token: 'narrow', token_type: 'Bearer', expires_in: HOUR_S, scope: 'read' },
    });
    expect(expectHeldToken(await rig.advanceUntilSettled(rig.vault.token(credentialKey()))).scopes).toBe(
      'read',
    );
    expect(await rig.record()).toMatchObject({
      generation: 1,
      scopesGranted: 'read',
      scopesRequested: 'read write',
    });
  });
});
