import { describeWith } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decide, openWindow, startConnectScene, type ConnectScene } from './webConnectScene.ts';

describeWith('chromium', 'a code that cannot be exchanged', () => {
  let scene: ConnectScene;
  beforeAll(async () => {
    scene = await startConnectScene();
  }, 120_000);
  afterAll(() => scene?.close());

  test('is said with a way to try again, and opens no form for a token', async () => {
    const page = await scene.visit('bea', { at: '/servers/notes' });
    const card = page.getByRole('region', { name: 'Sign-in to this server' });
    const press = (name: string) => () => card.getByRole('button', { name, exact: true }).click();
    scene.authorization.respondNext('token', { status: 400, body: { error: 'invalid_grant' } });
    await decide(await openWindow(page, press('Connect')), 'Allow');
    await card.getByText('The authorization code was rejected').waitFor();
    const field = card.getByLabel('Access token');
    expect([await field.isVisible(), await page.getByRole('dialog').count()]).toEqual([false, 0]);
    expect(await card.locator('details[open]').count()).toBe(0);
    await decide(await openWindow(page, press('Connect again')), 'Allow');
    await card.getByText('The server accepted your sign-in.').waitFor();
    expect(await field.isVisible()).toBe(false);
    await page.context().close();
  }, 90_000);
});
