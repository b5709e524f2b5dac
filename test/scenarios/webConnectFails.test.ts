import { describeWith } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decideConsent, openPopup, startConnectRig, type ConnectRig } from './webConnectRig.ts';

describeWith('chromium', 'a code that cannot be exchanged', () => {
  let rig: ConnectRig;
  beforeAll(async () => {
    rig = await startConnectRig();
  }, 120_000);
  afterAll(() => rig?.close());

  test('is said with a way to try again, and opens no form for a token', async () => {
    const page = await rig.openPage('bea', { path: '/servers/notes' });
    const card = page.getByRole('region', { name: 'Sign-in to this server' });
    const press = (name: string) => () => card.getByRole('button', { name, exact: true }).click();
    rig.authorization.respondNext('token', { status: 400, body: { error: 'invalid_grant' } });
    await decideConsent(await openPopup(page, press('Connect')), 'Allow');
    await card.getByText('The authorization code was rejected').waitFor();
    const field = card.getByLabel('Access token');
    expect([await field.isVisible(), await page.getByRole('dialog').count()]).toEqual([false, 0]);
    expect(await card.locator('details[open]').count()).toBe(0);
    await decideConsent(await openPopup(page, press('Connect again')), 'Allow');
    await card.getByText('The server accepted your sign-in.').waitFor();
    expect(await field.isVisible()).toBe(false);
    await page.context().close();
  }, 90_000);
});
