import { describeWith, eventually, scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { readDescription } from './webFields.ts';
import { isFocused, pressUntilFocused } from './webKeys.ts';
import { sendRest, createServerOverRest, readUserId } from './webRest.ts';
import { startWebRig, type WebRig } from './webRig.ts';

/** What a form has to cope with: a rule that only the gateway knows, an object and a list. */
const order = {
  name: 'order',
  description: 'Orders things',
  inputSchema: {
    type: 'object',
    properties: {
      code: { type: 'string', title: 'Code', pattern: '^[A-Z]{3}$' },
      address: {
        type: 'object',
        title: 'Address',
        properties: { city: { type: 'string', title: 'City' } },
        required: ['city'],
      },
      parts: { type: 'array', title: 'Parts', items: { type: 'string', title: 'Part' } },
    },
    required: ['code', 'address'],
  },
};

describeWith('chromium', 'the console', () => {
  let rig: WebRig;
  let shop: ScriptedHttpServer;
  let page: Page;
  beforeAll(async () => {
    shop = await scriptedHttpServer({ era: 'legacy', tools: [order] });
    rig = await startWebRig({
      servers: `  shop:\n    type: streamable-http\n    url: ${shop.url}`,
      addresses: [new URL(shop.url).host],
    });
    page = await rig.openPage('uma', { path: '/tools/desk/echo' });
  }, 120_000);
  afterAll(async () => {
    await rig?.close();
    await shop?.close();
  });

  const field = (name: string, at = page) => at.getByRole('textbox', { name });
  const run = (at = page) => at.getByRole('button', { name: 'Run', exact: true });
  const result = (at = page) => at.getByRole('region', { name: 'Result' });

  test('whoever signs in comes out where they wanted to go', async () => {
    const fresh = await rig.openPage('gil', { path: '/tools/desk/echo' });
    await fresh.getByRole('heading', { name: 'Echo', exact: true }).waitFor();
    expect(fresh.url()).toBe(`${rig.origin}/tools/desk/echo`);
    await fresh.context().close();
  }, 90_000);

  test('whoever signs out is out, also at the addresses they were at', async () => {
    const leaving = await rig.openPage('gil', { path: '/tools' });
    await leaving.getByRole('button', { name: 'Sign out' }).click();
    await leaving.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await leaving.goto(`${rig.origin}/tools/desk/echo`);
    await leaving.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect((await leaving.request.get(`${rig.origin}/api/user`)).status()).toBe(401);
    await leaving.context().close();
  }, 90_000);

  test('a sign-in that was ended elsewhere is told over the page, which stays, and leads back to it', async () => {
    const admin = await rig.openPage('ada');
    const other = await rig.openPage('gil', { path: '/tools/desk/echo' });
    await field('Text', other).fill('still here');
    await sendRest(admin, 'DELETE', `/api/admin/users/${await readUserId(other)}/sessions`);
    await run(other).click();
    const dialog = other.getByRole('dialog', { name: 'You are signed out' });
    await dialog.waitFor();
    expect(await field('Text', other).inputValue()).toBe('still here');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await other.click('text=Sign in with your organization');
    await other.waitForURL(`${rig.origin}/tools/desk/echo`);
    await field('Text', other).fill('back again');
    await run(other).click();
    await result(other).getByText('back again', { exact: true }).waitFor();
    await admin.context().close();
    await other.context().close();
  }, 120_000);

  test('where there is no model the page of the chat has the tools, each with a form made of its schema', async () => {
    await page.goto(`${rig.origin}/chat`);
    await page.getByRole('heading', { name: 'Run a tool', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'echo Says what it is told' }).click();
    const text = field('Text');
    await text.waitFor();
    expect(await text.getAttribute('required')).not.toBeNull();
    expect(await page.getByText('Text required').count()).toBe(1);
    expect(await field('Times').inputValue()).toBe('1');
    expect(await field('Times').getAttribute('required')).toBeNull();
    const tone = page.getByRole('combobox', { name: 'Tone' });
    expect(await tone.locator('option').allTextContents()).toEqual(['Not set', 'calm', 'loud']);

    const calls = rig.desk.server.received('tools/call').length;
    await run().click();
    expect(await readDescription(field('Text'))).toContain('Enter a value.');
    expect(await isFocused(text)).toBe(true);
    await text.fill('hello');
    await field('Times').fill('9');
    await run().click();
    expect(await readDescription(field('Times'))).toContain('Enter 5 or less.');
    expect(rig.desk.server.received('tools/call')).toHaveLength(calls);
    await field('Times').fill('2');
    await tone.selectOption('loud');
    await run().click();
    await result().getByText('HELLO HELLO', { exact: true }).waitFor();
    await result()
      .getByText(/^\d+(\.\d)? m?s$/)
      .waitFor();
  }, 90_000);

  test('a tool that was picked on the page of the chat is there after a reload, and Back leads to the one before', async () => {
    await page.goto(`${rig.origin}/chat`);
    await page.getByRole('link', { name: 'echo Says what it is told' }).click();
    await field('Text').waitFor();
    await page.reload();
    await field('Text').waitFor();
    expect(new URL(page.url()).pathname).toBe('/chat');
    await page.getByRole('link', { name: 'slow Takes as long as it is let' }).click();
    await field('Text').waitFor({ state: 'detached' });
    await page.goBack();
    await field('Text').waitFor();
    await page.goBack();
    await page.getByText('Choose a tool').first().waitFor();
  }, 90_000);

  test('what only the gateway finds wrong is said at its field as well', async () => {
    await page.goto(`${rig.origin}/tools/shop/order`);
    await field('Code').fill('abc');
    await field('City').fill('Oslo');
    await page.getByRole('button', { name: 'Add Parts' }).click();
    await page.getByRole('button', { name: 'Add Part', exact: true }).click();
    await field('Part 1').fill('wheel');
    await run().click();
    await result().getByText('Fix the highlighted fields.').waitFor();
    expect(await readDescription(field('Code'))).toContain('^[A-Z]{3}$');
    expect(await field('Code').getAttribute('aria-invalid')).toBe('true');
    await eventually('the field has the focus', () => isFocused(field('Code')));
    expect(shop.received('tools/call')).toEqual([]);
    await field('Code').fill('ABC');
    expect(await readDescription(field('Code'))).not.toContain('must match');
    await run().click();
    await result().getByText('Done', { exact: true }).waitFor();
    expect(shop.received('tools/call').at(-1)?.message?.params?.['arguments']).toEqual({
      code: 'ABC',
      address: { city: 'Oslo' },
      parts: ['wheel'],
    });
  }, 90_000);

  test('a tool that asks first shows what will be sent, and runs once or not at all', async () => {
    const { wiped } = rig.desk.counts;
    await page.goto(`${rig.origin}/tools/desk/wipe`);
    await field('place').fill('the cellar');
    await run().click();
    const question = page.getByRole('group', { name: 'Allow this tool call?' });
    await question.getByText('the cellar').waitFor();
    expect(await isFocused(question)).toBe(true);
    await question.getByRole('button', { name: 'Deny' }).click();
    await result().getByText('You denied this call. Nothing was sent.').waitFor();
    expect(rig.desk.counts.wiped).toBe(wiped);
    await run().click();
    await question.getByRole('button', { name: 'Approve' }).dblclick();
    await result().getByText('the cellar is empty', { exact: true }).waitFor();
    expect(rig.desk.counts.wiped).toBe(wiped + 1);
  }, 90_000);

  test('what is too long to be seen at once can be approved when its end was seen, and hides nothing', async () => {
    const { wiped } = rig.desk.counts;
    const place = `${'far away, '.repeat(2_000)}the \u202eattic`;
    await page.goto(`${rig.origin}/tools/desk/wipe`);
    await field('place').fill(place);
    await run().click();
    const question = page.getByRole('group', { name: 'Allow this tool call?' });
    await question.getByText('Scroll to the end to approve.').waitFor();
    const approve = question.getByRole('button', { name: 'Approve' });
    expect(await approve.isEnabled()).toBe(false);
    const box = question.getByRole('group', { name: 'Arguments' });
    const shown = await box.locator('bdi').allTextContents();
    expect(shown.slice(2, -1).join('')).toBe(JSON.stringify(place).replace('\u202e', '\\u202e'));
    await box.focus();
    await page.keyboard.press('End');
    await approve.click();
    await eventually('it has run', () => rig.desk.counts.wiped === wiped + 1);
  }, 90_000);

  test('a run says how far it is, and whoever cancels it stops it at its server', async () => {
    const { cancelled } = rig.desk.counts;
    await page.goto(`${rig.origin}/tools/desk/slow`);
    await run().click();
    await result().getByText('1 of 4').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await result().getByText('You canceled the call.').waitFor();
    await eventually('the server hears of it', () => rig.desk.counts.cancelled === cancelled + 1, 30_000);
    expect(await isFocused(run())).toBe(true);
  }, 90_000);

  test('the call is copied as a command that holds what was typed, and no key', async () => {
    await page.goto(`${rig.origin}/tools/desk/echo`);
    await field('Text').fill("it's $HOME");
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await page.getByRole('switch', { name: 'Edit as JSON' }).check();
    await field('Arguments as JSON').fill('');
    await page.keyboard.press('Control+V');
    expect(await field('Arguments as JSON').inputValue()).toBe(
      [
        `curl '${rig.origin}/api/mcp/servers/desk/tools/echo/call' \\`,
        `  -H "Authorization: Bearer $BEHALF_API_KEY" \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  --data-raw '{"arguments":{"text":"it'\\''s $HOME","times":1}}'`,
      ].join('\n'),
    );
  }, 90_000);

  test('while the gateway cannot be reached the page says so and keeps what was typed; then it reads everything anew', async () => {
    const admin = await rig.openPage('ada');
    await page.goto(`${rig.origin}/tools/desk/echo`);
    await field('Text').fill('typed before');
    await page.context().setOffline(true);
    await run().click();
    await result().getByText('The connection was lost before the result arrived').waitFor();
    const banner = page.getByText('Can’t reach the gateway. Retrying…');
    await banner.waitFor();
    const config = { type: 'streamable-http', title: 'Meanwhile', url: shop.url };
    await createServerOverRest(admin, config, { public: true });
    await page.context().setOffline(false);
    await page.getByText('Connection restored.').waitFor();
    await banner.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Meanwhile', exact: true }).waitFor();
    expect(await field('Text').inputValue()).toBe('typed before');
    await run().click();
    await result().getByText('typed before', { exact: true }).waitFor();
    await admin.context().close();
  }, 120_000);

  test('keys alone lead past the navigation, through it, to a tool, through its form and to its result', async () => {
    await page.goto(`${rig.origin}/servers`);
    await page.getByRole('heading', { name: 'Servers', level: 1 }).waitFor();
    await pressUntilFocused(page, 'Shift+Tab', page.getByRole('link', { name: 'Skip to content' }));
    await page.keyboard.press('Enter');
    expect(await isFocused(page.getByRole('main'))).toBe(true);

    await pressUntilFocused(page, 'Shift+Tab', page.getByRole('link', { name: 'Tools', exact: true }));
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { name: 'Tools', level: 1 });
    await heading.waitFor();
    await eventually('the page has the focus', () => isFocused(heading));

    await page.getByRole('link', { name: 'echo Says what it is told' }).waitFor();
    await pressUntilFocused(page, 'Tab', page.getByRole('searchbox', { name: 'Search tools' }));
    await page.keyboard.type('what it is told');
    const echo = page.getByRole('link', { name: 'echo Says what it is told' });
    await page.getByRole('link', { name: 'wipe' }).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await eventually('the tool in the list has the focus', () => isFocused(echo));
    await page.keyboard.press('Enter');
    const tool = page.getByRole('heading', { name: 'Echo', exact: true });
    await tool.waitFor();
    await eventually('the tool has the focus', () => isFocused(tool));

    await pressUntilFocused(page, 'Tab', field('Text'));
    await page.keyboard.type('by keys');
    await pressUntilFocused(page, 'Tab', page.getByRole('combobox', { name: 'Tone' }));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await pressUntilFocused(page, 'Tab', run());
    await page.keyboard.press('Space');
    await result().getByText('BY KEYS', { exact: true }).waitFor();
    expect(await isFocused(run())).toBe(true);
  }, 90_000);

  test('a dialog takes the focus, keeps it, asks before it drops what was typed, and gives the focus back', async () => {
    const admin = await rig.openPage('ada', { path: '/servers' });
    const add = admin.getByRole('button', { name: 'Add server' }).first();
    await pressUntilFocused(admin, 'Tab', add);
    await admin.keyboard.press('Enter');
    const first = admin.getByRole('dialog', { name: 'Add an MCP server' });
    await eventually('its address is asked for', () => isFocused(field('URL', admin)));
    await pressUntilFocused(admin, 'Tab', first.getByRole('button', { name: 'Set up manually' }));
    await admin.keyboard.press('Enter');
    const dialog = admin.getByRole('dialog', { name: 'New server' });
    await dialog.waitFor();
    await eventually('the first field has the focus', () => isFocused(field('Title', admin)));
    const isOutside = () =>
      admin.evaluate<boolean>('!document.activeElement.matches("body, dialog, dialog *")');
    for (let presses = 0; presses < 25; presses += 1) {
      await admin.keyboard.press('Tab');
      expect(await isOutside()).toBe(false);
    }
    await field('Title', admin).fill('Half a server');
    await admin.keyboard.press('Escape');
    const question = admin.getByRole('dialog', { name: 'Discard unsaved changes?' });
    await question.waitFor();
    await admin.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect(await field('Title', admin).inputValue()).toBe('Half a server');
    await field('Title', admin).fill('');
    await admin.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await eventually('the button has the focus again', () => isFocused(add));
    await admin.context().close();
  }, 90_000);
});
