import { describeWith, eventually } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { decide, openWindow, startConnectScene, type ConnectScene } from './webConnectScene.ts';
import { isFocused } from './webKeys.ts';
import { askRest } from './webRest.ts';

const PAGE = '/servers/notes';

describeWith('chromium', 'connecting a server', () => {
  let scene: ConnectScene;
  beforeAll(async () => {
    scene = await startConnectScene();
  }, 120_000);
  afterAll(() => scene?.close());

  const card = (page: Page) => page.getByRole('region', { name: 'Sign-in to this server' });
  const button = (page: Page, name: string) => card(page).getByRole('button', { name, exact: true });
  const open = (page: Page, name = 'Connect') => openWindow(page, () => button(page, name).click());
  const told = (page: Page, text: string) => card(page).getByText(text, { exact: false }).first().waitFor();

  async function connected(user: string): Promise<Page> {
    const page = await scene.visit(user, { at: PAGE });
    await decide(await open(page), 'Allow');
    await told(page, 'The server accepted your sign-in.');
    return page;
  }

  test('happens in a window beside the page, which then shows what it brought', async () => {
    const page = await scene.visit('bea', { at: PAGE });
    await page.getByText('You are not signed in.').waitFor();
    const opened = await open(page);
    await told(page, 'Finish signing in in the other window.');
    expect(await isFocused(button(page, 'Reopen window'))).toBe(true);
    const closed = opened.waitForEvent('close');
    await decide(opened, 'Allow');
    await told(page, 'The server accepted your sign-in.');
    await card(page).getByText('Active', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'note', exact: true }).waitFor();
    await page.getByText('The tools are ready to use.').waitFor();
    expect(await isFocused(button(page, 'Dismiss'))).toBe(true);
    await closed;
    const shown = await page.content();
    for (const secret of scene.authorization.secrets) expect(shown).not.toContain(secret);
    const notes = 'Object.keys(localStorage).filter((key) => key.includes("oauth")).length';
    await eventually(
      'nothing is left behind',
      async () => (await page.evaluate<number>(notes)) === 0,
      20_000,
    );
    await page.context().close();
  }, 90_000);

  test('what its user denies is said at once, and can be tried again', async () => {
    const page = await scene.visit('cem', { at: PAGE });
    const opened = await open(page);
    await decide(opened, 'Deny');
    await told(page, 'Access was denied');
    await decide(await open(page, 'Connect again'), 'Allow');
    await told(page, 'The server accepted your sign-in.');
    await page.context().close();
  }, 90_000);

  test('whoever cancels is rid of it, and what comes back late is not taken', async () => {
    const page = await scene.visit('dov', { at: PAGE });
    const opened = await open(page);
    await button(page, 'Cancel').click();
    await button(page, 'Connect').waitFor();
    expect(await isFocused(button(page, 'Connect'))).toBe(true);
    const before = scene.authorization.received('token').length;
    await decide(opened, 'Allow');
    await opened.getByRole('heading', { name: 'Not connected' }).waitFor();
    expect(scene.authorization.received('token')).toHaveLength(before);
    await page.getByText('You are not signed in.').waitFor();
    await page.context().close();
  }, 90_000);

  test('a sign-in that nobody finishes ends by itself, and says so', async () => {
    const page = await scene.visit('eva', { at: PAGE });
    await open(page);
    scene.later(10 * 60_000);
    await told(page, 'The sign-in timed out');
    await decide(await open(page, 'Connect again'), 'Allow');
    await told(page, 'The server accepted your sign-in.');
    await page.context().close();
  }, 90_000);

  test('where the browser opens no window it goes on in this one, and comes back', async () => {
    const page = await scene.visit('fay', { at: PAGE });
    await page.evaluate('window.open = () => null');
    await button(page, 'Connect').click();
    await told(page, 'Your browser blocked the sign-in window');
    await card(page).getByRole('link', { name: 'Continue in this window' }).click();
    await decide(page, 'Allow');
    await page.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Back to Behalf' }).click();
    await page.waitForURL(`${scene.home}${PAGE}`);
    await card(page).getByText('Active', { exact: true }).waitFor();
    await page.context().close();
  }, 90_000);

  test('the link of one user leads another nowhere: the authorization server never hears of it', async () => {
    const ada = await scene.visit('ada', { at: PAGE });
    const { connectUrl } = await askRest(ada, 'POST', '/api/mcp/notes/oauth/start', {});
    const before = scene.asked();
    const gil = await scene.visit('gil');
    await gil.goto(String(connectUrl));
    await gil.getByRole('heading', { name: 'Not connected' }).waitFor();
    await gil.getByText('This sign-in attempt belongs to another user', { exact: false }).first().waitFor();
    expect(scene.asked()).toBe(before);
    // It is still good for who began it.
    await ada.goto(String(connectUrl));
    await decide(ada, 'Allow');
    await ada.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
    await ada.context().close();
    await gil.context().close();
  }, 90_000);

  test('a second window joins what the first began, and both hear how it ended', async () => {
    const first = await scene.visit('hal', { at: PAGE });
    const opened = await open(first);
    const second = await first.context().newPage();
    await second.goto(`${scene.home}${PAGE}`);
    const joined = await open(second);
    await decide(joined, 'Allow');
    for (const page of [first, second]) await told(page, 'The server accepted your sign-in.');
    await opened.close();
    await first.context().close();
  }, 90_000);

  test('whoever disconnects is asked first, and told how far that went', async () => {
    const page = await connected('ida');
    const end = async (said: string) => {
      await card(page).getByRole('button', { name: 'Disconnect Your sign-in' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disconnect', exact: true }).click();
      await page.getByText(said, { exact: false }).waitFor();
    };
    await end('The authorization server revoked the sign-in.');
    await page.getByText('Sign in to this server to call its tools.').waitFor();
    scene.authorization.change({ revocation: 'fail' });
    await decide(await open(page, 'Connect again'), 'Allow');
    await card(page).getByText('Active', { exact: true }).waitFor();
    await end('could not revoke it at the authorization server');
    scene.authorization.change({ revocation: 'token' });
    await page.context().close();
  }, 120_000);

  test('the list of servers connects one as well, and shows how it stands then', async () => {
    const page = await scene.visit('jon', { at: '/servers' });
    const entry = page.getByRole('listitem').filter({ hasText: 'The notes' });
    const opened = await openWindow(page, () =>
      entry.getByRole('button', { name: 'Connect The notes' }).click(),
    );
    await decide(opened, 'Allow');
    await entry.getByText('Connected', { exact: true }).waitFor();
    await eventually(
      'nothing is left to connect',
      async () => (await entry.getByRole('button').count()) === 0,
    );
    await page.context().close();
  }, 90_000);

  test('several accounts have names, one is used by default, and a token can be brought', async () => {
    const page = await connected('kim');
    await button(page, 'Connect another account').click();
    const dialog = page.getByRole('dialog', { name: 'Connect another account' });
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await dialog.getByText('Enter a name.').waitFor();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Work');
    await decide(
      await openWindow(page, () => dialog.getByRole('button', { name: 'Connect', exact: true }).click()),
      'Allow',
    );
    await card(page).getByRole('button', { name: 'Make Work the default' }).click();
    await page.getByText('Work is now the default').waitFor();
    const rows = card(page).getByRole('list', { name: 'Your sign-ins' }).locator(':scope > li');
    await eventually('the default has moved', async () =>
      (await rows.filter({ has: page.getByText('Default', { exact: true }) }).allTextContents()).every(
        (text) => text.startsWith('Work'),
      ),
    );
    await card(page).getByText('Use an access token instead').click();
    await button(page, 'Save token').click();
    await card(page).getByText('Enter the token.').waitFor();
    const { accessToken } = scene.authorization.grant({ clientId: 'elsewhere', resource: scene.notes.url });
    await card(page).getByLabel('Access token').fill(accessToken);
    await card(page).getByRole('textbox', { name: 'Name' }).fill('Brought');
    await button(page, 'Save token').click();
    await page.getByText('Token saved').waitFor();
    await rows.getByText('Access token', { exact: true }).waitFor();
    expect(await page.content()).not.toContain(accessToken);
    await page.context().close();
  }, 120_000);
});
