import { describeWith, scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { readDescription } from './webFields.ts';
import { startWebRig, type WebRig } from './webRig.ts';

const ACCOUNT = 'account-of-uma-0815';
const KEY = 'key-of-uma-4711';

describeWith('chromium', 'a server that wants values of its users', () => {
  let rig: WebRig;
  let ledger: ScriptedHttpServer;
  let page: Page;
  beforeAll(async () => {
    ledger = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'book', description: 'Books it' }] });
    rig = await startWebRig({
      addresses: [new URL(ledger.url).host],
      servers: `  ledger:
    type: streamable-http
    title: The ledger
    url: ${ledger.url}
    headers: { x-account: '{{ACCOUNT}}', x-key: '{{KEY}}' }
    customUserVars:
      ACCOUNT: { title: Account, description: The number of your account, sensitive: false }
      KEY: { title: Secret key, description: From your settings there }`,
    });
    page = await rig.openPage('uma', { path: '/servers/ledger' });
  }, 120_000);
  afterAll(async () => {
    await rig?.close();
    await ledger?.close();
  });

  const button = (name: string, within: Page | Locator = page) =>
    within.getByRole('button', { name, exact: true });
  const field = (name: string) => page.getByRole('textbox', { name });
  /** The first says how the server stands; toasts and notices come after it. */
  const state = (words: string) => page.getByRole('status').getByText(words, { exact: true }).first();
  async function enter(values: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(values)) await field(name).fill(value);
    await button('Save values').click();
  }
  async function expectUnseen(): Promise<void> {
    for (const name of ['Account', 'Secret key']) expect(await field(name).inputValue()).toBe('');
    const content = await page.content();
    for (const value of [ACCOUNT, KEY]) expect(content).not.toContain(value);
  }

  test('missing values are asked for, stored, sent to the server, and cleared one by one or all at once', async () => {
    await state('Needs setup').waitFor();
    expect(await page.getByText('Missing', { exact: true }).count()).toBe(2);
    await button('Save values').click();
    await page.getByText('Enter a value first.').waitFor();
    await enter({ Account: ACCOUNT });
    await page.getByText('Values saved').waitFor();
    await page.getByText('Set', { exact: true }).waitFor();
    await state('Needs setup').waitFor();
    await enter({ 'Secret key': KEY });
    await state('Connected').waitFor();
    await page.getByRole('link', { name: 'book' }).click();
    await button('Run').click();
    await page.getByRole('region', { name: 'Result' }).getByText('Done', { exact: true }).waitFor();
    expect(ledger.received('tools/call').at(-1)?.headers).toMatchObject({
      'x-account': ACCOUNT,
      'x-key': KEY,
    });

    await page.goto(`${rig.origin}/servers/ledger`);
    await button('Clear Secret key').click();
    await page.getByText('Secret key cleared').waitFor();
    await state('Needs setup').waitFor();
    await enter({ 'Secret key': KEY });
    await state('Connected').waitFor();
    await button('Clear all').click();
    await button('Clear all', page.getByRole('dialog', { name: 'Clear all your values?' })).click();
    await page.getByText('Values cleared').waitFor();
    await state('Needs setup').waitFor();
    expect(await page.getByText('Missing', { exact: true }).count()).toBe(2);
  }, 120_000);

  test('what was entered is never shown again, neither at once nor later', async () => {
    await page.goto(`${rig.origin}/servers/ledger`);
    expect(await field('Secret key').getAttribute('type')).toBe('password');
    const received: Promise<string>[] = [];
    page.on('response', (answer) => {
      if (answer.url().includes('/api/')) received.push(answer.text().catch(() => ''));
    });
    await enter({ Account: ACCOUNT, 'Secret key': KEY });
    await state('Connected').waitFor();
    await expectUnseen();
    await page.reload();
    await button('Clear all').waitFor();
    expect(await readDescription(field('Secret key'))).toContain('Stored. Enter a new value to replace it.');
    await expectUnseen();
    page.removeAllListeners('response');
    for (const text of await Promise.all(received)) {
      for (const value of [ACCOUNT, KEY]) expect(text).not.toContain(value);
    }
  }, 120_000);

  test('a value that is refused is told at its field, and what was typed stays', async () => {
    await page.goto(`${rig.origin}/servers/ledger`);
    const long = '1'.repeat(16_385);
    await enter({ Account: long });
    const account = page.locator('[aria-invalid=true]');
    await account.waitFor();
    expect(await account.inputValue()).toBe(long);
    expect(await readDescription(account)).toContain('16384');
  }, 120_000);

  test('a server that is down is unreachable since a moment, stays so when it is tried, and is connected once it is up', async () => {
    ledger.change({ respond: () => 'reset' });
    // Other values, another connection: the one that was open is not used any more.
    await page.goto(`${rig.origin}/servers/ledger`);
    await enter({ Account: `${ACCOUNT}-2`, 'Secret key': KEY });
    await state('Unreachable').waitFor();
    await page.getByText(/^Since .*\(just now\)\./).waitFor();
    await page.goto(`${rig.origin}/servers`);
    const card = page.getByRole('main').getByRole('listitem').filter({ hasText: 'The ledger' });
    await card.getByText(/^Unreachable since /).waitFor();
    await page.getByRole('link', { name: 'The ledger' }).click();
    await state('Unreachable').waitFor();
    await button('Reconnect').click();
    await page.getByText('Still unreachable', { exact: true }).waitFor();
    ledger.change({ respond: () => undefined });
    await button('Reconnect').click();
    await page.getByText('Reconnected', { exact: true }).waitFor();
    await state('Connected').waitFor();
    await page.getByRole('link', { name: 'book' }).waitFor();
  }, 120_000);
});
