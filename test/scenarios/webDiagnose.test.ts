import { describeWith } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { decideConsent, openPopup, startConnectRig, type ConnectRig } from './webConnectRig.ts';
import { isFocused } from './webKeys.ts';

const PAGE = '/servers/notes';

describeWith('chromium', 'the diagnosis on the page of a server', () => {
  let rig: ConnectRig;
  beforeAll(async () => {
    rig = await startConnectRig();
  }, 120_000);
  afterAll(() => rig?.close());

  const card = (page: Page) => page.getByRole('region', { name: 'Diagnosis' });
  const button = (page: Page, name: string) => card(page).getByRole('button', { name, exact: true });
  const waitForText = (page: Page, text: string) => card(page).getByText(text).first().waitFor();
  const step = (page: Page, name: string) =>
    card(page)
      .getByRole('list', { name: 'Steps of the diagnosis' })
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name, exact: true }) });

  test('says by the keyboard where a call stops, then that it works, and begins nothing', async () => {
    const page = await rig.openPage('bea', { path: PAGE });
    let release: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/diagnose', async (route) => {
      await held;
      await route.continue();
    });
    await button(page, 'Diagnose').focus();
    await page.keyboard.press('Enter');
    await card(page).getByRole('status').getByText('This takes a few seconds').waitFor();
    expect(await button(page, 'Diagnosing…').getAttribute('aria-busy')).toBe('true');
    release?.();
    await card(page).getByRole('alert').getByText('Failed at: Your sign-in or key').waitFor();
    expect(await isFocused(button(page, 'Diagnose again'))).toBe(true);
    expect(await step(page, 'Your permission').innerText()).toContain('OK');
    const credential = await step(page, 'Your sign-in or key').innerText();
    for (const words of ['Failed', 'What to do', 'MCP_AUTHORIZATION_REQUIRED'])
      expect(credential).toContain(words);
    expect(await step(page, 'Your tools').count()).toBe(0);
    await card(page).getByText('steps skipped').click();
    await card(page).getByRole('heading', { name: 'Your tools' }).waitFor();
    expect(rig.authorization.counters).toMatchObject({
      ...{ registrations: 0, authorizations: 0, tokenHits: 0 },
    });

    const signIn = page.getByRole('region', { name: 'Sign-in to this server' });
    const connect = () => signIn.getByRole('button', { name: 'Connect', exact: true }).click();
    await decideConsent(await openPopup(page, connect), 'Allow');
    await signIn.getByText('The server accepted your sign-in.').waitFor();
    await button(page, 'Diagnose again').click();
    await waitForText(page, 'Your calls to this server work');
    expect(await step(page, 'Your tools').innerText()).toContain('You can use one tool');
    const shown = await page.content();
    for (const secret of rig.authorization.secrets) expect(shown).not.toContain(secret);
    await page.context().close();
  }, 120_000);

  test('a diagnosis that could not be made says so, and can be tried again', async () => {
    const page = await rig.openPage('cem', { path: PAGE });
    await page.route('**/diagnose', (route) => route.abort());
    await button(page, 'Diagnose').click();
    await card(page).getByRole('alert').waitFor();
    expect(await card(page).getByRole('list').count()).toBe(0);
    await page.unroute('**/diagnose');
    await card(page).getByRole('alert').getByRole('button').click();
    await waitForText(page, 'Failed at: Your sign-in or key');
    await page.context().close();
  }, 90_000);
});
