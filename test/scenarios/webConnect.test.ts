import { describeWith, eventually } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { decideConsent, openPopup, startConnectRig, type ConnectRig } from './webConnectRig.ts';
import { isFocused } from './webKeys.ts';
import { sendRest } from './webRest.ts';

const PAGE = '/servers/notes';

describeWith('chromium', 'connecting a server', () => {
  let rig: ConnectRig;
  beforeAll(async () => {
    rig = await startConnectRig();
  }, 120_000);
  afterAll(() => rig?.close());

  const card = (page: Page) => page.getByRole('region', { name: 'Sign-in to this server' });
  const button = (page: Page, name: string) => card(page).getByRole('button', { name, exact: true });
  const open = (page: Page, name = 'Connect') => openPopup(page, () => button(page, name).click());
  const waitForText = (page: Page, text: string) =>
    card(page).getByText(text, { exact: false }).first().waitFor();

  async function connected(user: string): Promise<Page> {
    const page = await rig.openPage(user, { path: PAGE });
    await decideConsent(await open(page), 'Allow');
    await waitForText(page, 'The server accepted your sign-in.');
    return page;
  }

  test('happens in a window beside the page, which then shows what it brought', async () => {
    const page = await rig.openPage('bea', { path: PAGE });
    await page.getByText('You are not signed in.').waitFor();
    const opened = await open(page);
    await waitForText(page, 'Finish signing in in the other window.');
    expect(await isFocused(button(page, 'Reopen window'))).toBe(true);
    const closed = opened.waitForEvent('close');
    await decideConsent(opened, 'Allow');
    await waitForText(page, 'The server accepted your sign-in.');
    await card(page).getByText('Active', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'note', exact: true }).waitFor();
    await page.getByText('The tools are ready to use.').waitFor();
    expect(await isFocused(button(page, 'Dismiss'))).toBe(true);
    await closed;
    const shown = await page.content();
    for (const secret of rig.authorization.secrets) expect(shown).not.toContain(secret);
    const notes = 'Object.keys(localStorage).filter((key) => key.includes("oauth")).length';
    await eventually(
      'nothing is left behind',
      async () => (await page.evaluate<number>(notes)) === 0,
      20_000,
    );
    await page.context().close();
  }, 90_000);

  test('what its user denies is said at once, and can be tried again', async () => {
    const page = await rig.openPage('cem', { path: PAGE });
    const opened = await open(page);
    await decideConsent(opened, 'Deny');
    await waitForText(page, 'Access was denied');
    await decideConsent(await open(page, 'Connect again'), 'Allow');
    await waitForText(page, 'The server accepted your sign-in.');
    await page.context().close();
  }, 90_000);

  test('whoever cancels is rid of it, and what comes back late is not taken', async () => {
    const page = await rig.openPage('dov', { path: PAGE });
    const opened = await open(page);
    await button(page, 'Cancel').click();
    await button(page, 'Connect').waitFor();
    expect(await isFocused(button(page, 'Connect'))).toBe(true);
    const before = rig.authorization.received('token').length;
    await decideConsent(opened, 'Allow');
    await opened.getByRole('heading', { name: 'Not connected' }).waitFor();
    expect(rig.authorization.received('token')).toHaveLength(before);
    await page.getByText('You are not signed in.').waitFor();
    await page.context().close();
  }, 90_000);

  test('a sign-in that nobody finishes ends by itself, and says so', async () => {
    const page = await rig.openPage('eva', { path: PAGE });
    await open(page);
    rig.advanceClock(10 * 60_000);
    await waitForText(page, 'The sign-in timed out');
    await decideConsent(await open(page, 'Connect again'), 'Allow');
    await waitForText(page, 'The server accepted your sign-in.');
    await page.context().close();
  }, 90_000);

  test('where the browser opens no window it goes on in this one, and comes back', async () => {
    const page = await rig.openPage('fay', { path: PAGE });
    await page.evaluate('window.open = () => null');
    await button(page, 'Connect').click();
    await waitForText(page, 'Your browser blocked the sign-in window');
    await card(page).getByRole('link', { name: 'Continue in this window' }).click();
    await decideConsent(page, 'Allow');
    await page.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Back to Behalf' }).click();
    await page.waitForURL(`${rig.origin}${PAGE}`);
    await card(page).getByText('Active', { exact: true }).waitFor();
    await page.context().close();
  }, 90_000);

  test('the link of one user leads another nowhere: the authorization server never hears of it', async () => {
    const ada = await rig.openPage('ada', { path: PAGE });
    const { connectUrl } = await sendRest(ada, 'POST', '/api/mcp/notes/oauth/start', {});
    const before = rig.authorizationCount();
    const gil = await rig.openPage('gil');
    await gil.goto(String(connectUrl));
    await gil.getByRole('heading', { name: 'Not connected' }).waitFor();
    await gil.getByText('This sign-in attempt belongs to another user', { exact: false }).first().waitFor();
    expect(rig.authorizationCount()).toBe(before);
    // It is still good for who began it.
    await ada.goto(String(connectUrl));
    await decideConsent(ada, 'Allow');
    await ada.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
    await ada.context().close();
    await gil.context().close();
  }, 90_000);

  test('a second window joins what the first began, and both hear how it ended', async () => {
    const first = await rig.openPage('hal', { path: PAGE });
    const opened = await open(first);
    const second = await first.context().newPage();
    await second.goto(`${rig.origin}${PAGE}`);
    const joined = await open(second);
    await decideConsent(joined, 'Allow');
    for (const page of [first, second]) await waitForText(page, 'The server accepted your sign-in.');
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
    rig.authorization.change({ revocation: 'fail' });
    await decideConsent(await open(page, 'Connect again'), 'Allow');
    await card(page).getByText('Active', { exact: true }).waitFor();
    await end('could not revoke it at the authorization server');
    rig.authorization.change({ revocation: 'token' });
    await page.context().close();
  }, 120_000);

  test('the list of servers connects one as well, and shows how it stands then', async () => {
    const page = await rig.openPage('jon', { path: '/servers' });
    const entry = page.getByRole('listitem').filter({ hasText: 'The notes' });
    const opened = await openPopup(page, () =>
      entry.getByRole('button', { name: 'Connect The notes' }).click(),
    );
    await decideConsent(opened, 'Allow');
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
    await decideConsent(
      await openPopup(page, () => dialog.getByRole('button', { name: 'Connect', exact: true }).click()),
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
    const { accessToken } = rig.authorization.grant({ clientId: 'elsewhere', resource: rig.notes.url });
    await card(page).getByLabel('Access token').fill(accessToken);
    await card(page).getByRole('textbox', { name: 'Name' }).fill('Brought');
    await button(page, 'Save token').click();
    await page.getByText('Token saved').waitFor();
    await rows.getByText('Access token', { exact: true }).waitFor();
    expect(await page.content()).not.toContain(accessToken);
    await page.context().close();
  }, 120_000);
});
