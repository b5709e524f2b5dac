import { describeWith } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createKeyClient, sendModern } from './mcpClient.ts';
import { startConnectRig, type ConnectRig } from './webConnectRig.ts';
import { pressUntilFocused } from './webKeys.ts';
import { sendRest } from './webRest.ts';

const HOUR_MS = 3_600_000;

describeWith('chromium', 'a link to connect a server, as an MCP client shows it', () => {
  let rig: ConnectRig;
  beforeAll(async () => {
    rig = await startConnectRig();
  }, 120_000);
  afterAll(() => rig?.close());

  /** Of a call that this user's client made. */
  async function linkOf(page: Page): Promise<string> {
    const { key } = await sendRest(page, 'POST', '/api/user/keys', { name: 'client', scopes: ['mcp'] });
    const client = createKeyClient(String(key), rig.origin);
    const response = await sendModern(client, 'tools/call', {
      name: 'notes__note',
      arguments: { text: 'hello' },
    });
    const meta = response.message.result?.['_meta'] as { 'behalf/auth': { connectUrl: string } };
    const { pathname, search } = new URL(meta['behalf/auth'].connectUrl);
    return `${pathname}${search}`;
  }

  test('leads its user to the server, and tells others that it is not theirs', async () => {
    const bea = await rig.openPage('bea', { path: '/servers' });
    const link = await linkOf(bea);
    await bea.goto(new URL(link, rig.origin).href);
    await bea.getByRole('button', { name: 'Connect', exact: true }).waitFor();

    const cem = await rig.openPage('cem', { path: link });
    await cem.getByRole('heading', { name: 'This link is for another user' }).waitFor();
    await cem.getByText('Nothing was started.', { exact: false }).waitFor();
    expect(await cem.getByRole('button', { name: 'Connect', exact: true }).count()).toBe(0);
    expect([rig.authorizationCount(), await cem.locator('a[href*="/servers/notes"]').count()]).toEqual([
      0, 0,
    ]);
    await pressUntilFocused(cem, 'Tab', cem.getByRole('main').getByRole('link', { name: 'All servers' }));
    await cem.keyboard.press('Enter');
    await cem.getByRole('heading', { name: 'Servers', exact: true }).waitFor();

    rig.advanceClock(HOUR_MS);
    await bea.reload();
    await bea.getByRole('heading', { name: 'This link has expired' }).waitFor();
    await bea.getByRole('link', { name: 'Open server' }).click();
    await bea.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    for (const page of [bea, cem]) await page.context().close();
  }, 90_000);
});
