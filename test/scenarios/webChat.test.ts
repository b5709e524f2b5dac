import type { ScriptStep } from '@behalf/devidp/sample';
import { describeWith, eventually } from '@behalf/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { callThenReport } from './chatRig.ts';
import { isFocused } from './webKeys.ts';
import { startCuttableProxy } from './cuttableProxy.ts';
import { sendRest, assignRole, readUserId } from './webRest.ts';
import { startWebRig, type WebRig } from './webRig.ts';

/** How often a page asks what its user may do. */
const RIGHTS_EVERY_MS = 15_000;

/** A moment that a test decides about. */
function signal() {
  let give = (): void => undefined;
  const whenSignaled = new Promise<void>((resolve) => (give = resolve));
  return { whenSignaled, give };
}

describeWith('chromium', 'the chat', () => {
  let rig: WebRig;
  let page: Page;
  beforeAll(async () => {
    rig = await startWebRig({ modelScript: () => [] });
    page = await rig.openPage('uma');
  }, 120_000);
  afterAll(() => rig?.close());
  beforeEach(async () => {
    rig.mail.acceptTokens();
    await page.goto(`${rig.origin}/chat`);
  });

  async function say(text: string, at = page): Promise<void> {
    await at.getByRole('textbox', { name: 'Your message' }).fill(text);
    await at.keyboard.press('Enter');
  }
  const card = (tool: string, server = 'Front desk'): Locator =>
    page.getByRole('article', { name: `Tool call: ${tool} on ${server}` });
  const word = (of: Locator | Page, text: string) => of.getByText(text, { exact: true });
  const sendButton = () => page.getByRole('button', { name: 'Send' });
  /** The list beside the page. */
  const listed = (title: string) => page.getByRole('navigation').getByRole('link', { name: title });
  const finished = () => sendButton().waitFor();

  test('a text is there as it arrives, and can be read to its end', async () => {
    const more = signal();
    rig.model.setScript(async function* (): AsyncGenerator<ScriptStep> {
      yield 'The first **half**';
      await more.whenSignaled;
      yield ' and the rest.';
    });
    await say('Tell me something');
    await word(page, 'The first half').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    more.give();
    await word(page, 'The first half and the rest.').waitFor();
    await finished();
    expect(await page.locator('strong').allTextContents()).toContain('half');
  }, 90_000);

  test('a tool that all share says so, and shows what it was given and what it gave', async () => {
    rig.model.setScript(callThenReport({ name: 'echo_mcp_desk', args: { text: 'hello there' } }));
    await say('Echo hello there');
    const echo = card('echo');
    await word(echo, 'Done').waitFor();
    // What it was given is folded.
    await word(echo, 'hello there').filter({ visible: true }).waitFor();
    await word(page, 'It said: hello there').waitFor();
    await word(echo, 'No credential').click();
    await echo.getByText('All users share one connection.').waitFor();
    expect(await echo.getByText('On your behalf').count()).toBe(0);
  }, 90_000);

  test('a tool on behalf of the user names them, and says with which scope', async () => {
    rig.model.setScript(callThenReport({ name: 'whoami_mcp_mail' }));
    await say('Who am I?');
    const whoami = card('Who am I?', 'mail');
    await whoami.getByText('You are Uma User').waitFor();
    await word(whoami, 'On your behalf').click();
    await whoami.getByText('Scope: api://mail/.default.').waitFor();
    await whoami.getByText('The connection is yours only.').waitFor();
  }, 90_000);

  test('a server that wants another sign-in says so in the conversation, which goes on after it', async () => {
    rig.model.setScript(callThenReport({ name: 'whoami_mcp_mail' }));
    const gil = await rig.openPage('gil', { path: '/chat' });
    await say('Who am I?', gil);
    await gil.getByText('You are Gil Guest').first().waitFor();
    rig.mail.requireClaims(JSON.stringify({ access_token: { acrs: { essential: true, value: 'c1' } } }));
    await gil.getByRole('button', { name: 'Send' }).waitFor();
    await say('And now?', gil);
    await gil.getByText('Sign in to mail to continue', { exact: true }).waitFor();
    const address = gil.url();
    const back = gil.waitForEvent('framenavigated', (frame) => frame.url() === address);
    await gil.getByRole('link', { name: 'Sign in', exact: true }).click();
    await back;
    await gil.getByRole('button', { name: 'Try again' }).click();
    await eventually(
      'both answers name them',
      async () => (await gil.getByRole('article').getByText('You are Gil Guest').count()) === 2,
      30_000,
    );
    await gil.context().close();
  }, 120_000);

  test('calls that the model makes together run together, each with its progress', async () => {
    const before = rig.desk.counts.slow;
    rig.model.setScript(callThenReport({ name: 'slow_mcp_desk' }, { name: 'slow_mcp_desk' }));
    await say('Twice, slowly');
    await card('slow').nth(1).waitFor();
    await eventually('both run', () => rig.desk.counts.slow === before + 2, 30_000);
    for (const at of [0, 1]) {
      const one = card('slow').nth(at);
      await word(one, 'Running').waitFor();
      await word(one, '1 of 4').waitFor();
    }
    rig.desk.release();
    for (const at of [0, 1]) {
      await word(card('slow').nth(at), 'Done').waitFor();
      await word(card('slow').nth(at), 'done slowly').waitFor();
    }
  }, 90_000);

  test('a table, a picture, a sound and a link are shown as what they are, with the time it took', async () => {
    await page.addInitScript({
      content: `addEventListener('securitypolicyviolation', (event) => (window.prevented = event.blockedURI));`,
    });
    await page.reload();
    rig.model.setScript(callThenReport({ name: 'report_mcp_desk' }));
    await say('Report');
    const report = card('report');
    const rows = report.getByRole('row');
    await rows.filter({ hasText: 'Rome' }).waitFor();
    expect(await rows.allTextContents()).toEqual(['citydegrees', 'Oslo3', 'Rome18']);
    const picture = report.getByRole('img', { name: 'Image from the tool' });
    await picture.waitFor();
    expect(await picture.getAttribute('src')).toMatch(/^data:image\/png;base64,/);
    const link = report.getByRole('link', { name: 'https://example.test/report' });
    expect(await link.getAttribute('href')).toBe('https://example.test/report');
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
    await report.getByText('The whole report').waitFor();
    const sound = report.getByLabel('Audio from the tool');
    expect(await sound.getAttribute('src')).toMatch(/^data:audio\/wav;base64,/);
    const seconds = () => page.evaluate<number>('document.querySelector("audio").duration');
    await eventually('it can be played', async () => (await seconds()) === 0.1);
    expect(await page.evaluate('window.prevented')).toBeUndefined();
    await report.getByText(/^\d+(\.\d)? m?s$/).waitFor();
  }, 90_000);

  test('the model sees the tools of the servers that are ticked, and the one that is chosen is asked', async () => {
    rig.model.setScript(() => ['Fine.']);
    const sendChatMessage = async (text: string) => {
      const before = rig.model.requests.length;
      await say(text);
      const request = await eventually('it is asked', () => rig.model.requests.slice(before)[0], 30_000);
      await finished();
      const servers = request.tools.map(({ function: { name } }) => name.split('_mcp_')[1]);
      return { model: request.model, servers: [...new Set(servers)].sort() };
    };
    expect(await sendChatMessage('With all')).toEqual({ model: 'scripted-large', servers: ['desk', 'mail'] });
    await page.getByRole('button', { name: 'All servers' }).click();
    const chooser = page.getByRole('dialog', { name: 'Tools for the model' });
    await chooser.getByRole('checkbox', { name: 'Front desk' }).uncheck();
    await page.keyboard.press('Escape');
    await chooser.waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'Model' }).selectOption('scripted-small');
    expect(await sendChatMessage('With one')).toEqual({ model: 'scripted-small', servers: ['mail'] });
    await page.reload();
    await page.getByRole('button', { name: '1 of 2 servers' }).click();
    await chooser.getByRole('button', { name: 'None' }).click();
    expect(await sendChatMessage('With none')).toEqual({ model: 'scripted-small', servers: [] });
    await page.getByRole('button', { name: 'No tools' }).click();
    await chooser.getByRole('button', { name: 'All', exact: true }).click();
    await page.getByRole('combobox', { name: 'Model' }).selectOption('scripted-large');
    expect(await sendChatMessage('With all again')).toEqual({
      model: 'scripted-large',
      servers: ['desk', 'mail'],
    });
  }, 90_000);

  test('whoever may not use servers any more is told so in the chat, which takes nothing more', async () => {
    const ada = await rig.openPage('ada');
    const gil = await rig.openPage('gil');
    await assignRole(ada, await readUserId(gil), { name: 'talker', permissions: { USE: true } });
    await gil.clock.install();
    await gil.goto(`${rig.origin}/chat`);
    await gil.getByRole('textbox', { name: 'Your message' }).fill('Half a sen');
    await sendRest(ada, 'PATCH', '/api/admin/roles/talker', {
      permissions: { MCP_SERVERS: { USE: false } },
    });
    await gil.clock.fastForward(RIGHTS_EVERY_MS);
    await gil.getByRole('heading', { name: 'Your role does not allow using servers' }).waitFor();
    expect(await gil.getByRole('textbox').count()).toBe(0);
    expect(await gil.getByRole('link', { name: 'Tools', exact: true }).count()).toBe(0);
    await sendRest(ada, 'PATCH', `/api/admin/users/${await readUserId(gil)}`, { role: 'USER' });
    await gil.context().close();
    await ada.context().close();
  }, 90_000);

  test('a tool that asks first runs once when it is approved, however often the button is pressed', async () => {
    const { wiped } = rig.desk.counts;
    rig.model.setScript(callThenReport({ name: 'wipe_mcp_desk', args: { place: 'the attic' } }));
    await say('Wipe the attic');
    const question = page.getByRole('group', { name: 'Allow this tool call?' });
    await question.getByText('the attic').waitFor();
    await word(card('wipe'), 'Waiting for you').waitFor();
    // The question is what is read next; a key that was meant for something else does not answer it.
    expect(await isFocused(question)).toBe(true);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Space');
    expect(rig.desk.counts.wiped).toBe(wiped);
    await question.getByRole('button', { name: 'Approve' }).dblclick();
    await word(card('wipe'), 'the attic is empty').waitFor();
    await finished();
    expect(rig.desk.counts.wiped).toBe(wiped + 1);
  }, 90_000);

  test('it does not run when it is denied, and does not take the field from somebody who types', async () => {
    const { wiped } = rig.desk.counts;
    const typed = signal();
    const wipe = callThenReport({ name: 'wipe_mcp_desk', args: { place: 'the attic' } });
    rig.model.setScript(async function* (request): AsyncGenerator<ScriptStep> {
      await typed.whenSignaled;
      yield* wipe(request);
    });
    await say('Wipe the attic');
    const field = page.getByRole('textbox', { name: 'Your message' });
    await field.fill('My next que');
    typed.give();
    await page.getByRole('button', { name: 'Deny' }).waitFor();
    await page.keyboard.type('stion');
    await page.keyboard.press('Enter');
    expect(await field.inputValue()).toBe('My next question');
    await page.getByRole('button', { name: 'Deny' }).click();
    await word(card('wipe'), 'Denied').waitFor();
    await finished();
    expect(rig.desk.counts.wiped).toBe(wiped);
  }, 90_000);

  test('the button stops the tool at its server, and the answer says that it was stopped', async () => {
    const { cancelled } = rig.desk.counts;
    rig.model.setScript(callThenReport({ name: 'slow_mcp_desk' }));
    await say('Slowly');
    await word(card('slow'), '1 of 4').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await word(page, 'Stopped.').waitFor();
    await word(card('slow'), 'Canceled').waitFor();
    await eventually('the server hears of it', () => rig.desk.counts.cancelled === cancelled + 1, 30_000);
  }, 90_000);

  test('a conversation is there after a reload, can be renamed, and is gone when it is deleted', async () => {
    rig.model.setScript(callThenReport({ name: 'echo_mcp_desk', args: { text: 'kept words' } }));
    await say('Keep what is said here');
    await word(page, 'It said: kept words').waitFor();
    await finished();
    await page.waitForURL(/\/chat\/[^/]+$/);
    await page.reload();
    await word(page, 'It said: kept words').waitFor();
    await word(card('echo'), 'Done').waitFor();

    await listed('Keep what is said here').hover();
    await page.getByRole('button', { name: 'Rename Keep what is said here' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Of old things');
    await page.keyboard.press('Enter');
    await listed('Of old things').waitFor();
    await page.getByRole('heading', { name: 'Of old things', level: 1 }).waitFor();
    await page.reload();
    await listed('Of old things').hover();
    await page.getByRole('button', { name: 'Delete Of old things' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await listed('Of old things').waitFor({ state: 'detached' });
    await page.waitForURL(`${rig.origin}/chat`);
    await page.reload();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await page.getByText('Of old things').count()).toBe(0);
  }, 90_000);

  test('an answer whose connection broke says so, and is read again when the gateway can be reached', async () => {
    rig.model.setScript(async function* (): AsyncGenerator<ScriptStep> {
      yield 'Before the break';
      yield { until: new Promise(() => undefined) };
    });
    const line = await startCuttableProxy();
    const remote = await rig.openPage('uma', { path: '/chat', ...line.context });
    await say('A long story', remote);
    await word(remote, 'Before the break').waitFor();
    line.disconnect();
    await remote.getByText('The connection was lost').waitFor();
    await remote.getByText('Can’t reach the gateway. Retrying…').waitFor();
    await word(remote, 'Before the break').waitFor();
    const field = remote.getByRole('textbox', { name: 'Your message' });
    await field.fill('What I typed meanwhile');
    line.reconnect();
    await remote.getByText('Connection restored.').waitFor();
    // Who is gone is not answered further: that is what the gateway has kept of it.
    await word(remote, 'Stopped.').waitFor();
    await remote.getByText('The connection was lost').waitFor({ state: 'detached' });
    await word(remote, 'Before the break').waitFor();
    expect(await field.inputValue()).toBe('What I typed meanwhile');
    await remote.context().close();
    await line.close();
  }, 120_000);

  test('at its address nobody else finds anything, an administrator neither, and sees it in no list', async () => {
    rig.model.setScript(() => ['Between us.']);
    await say('A secret of Uma');
    await word(page, 'Between us.').waitFor();
    await finished();
    await page.waitForURL(/\/chat\/[^/]+$/);
    const ada = await rig.openPage('ada', { path: new URL(page.url()).pathname });
    await ada.getByRole('heading', { name: 'Conversation not found' }).waitFor();
    expect(new URL(ada.url()).pathname).toBe(new URL(page.url()).pathname);
    await ada.getByText('Your conversations appear here. Only you can see them.').waitFor();
    expect(await ada.getByText('A secret of Uma').count()).toBe(0);
    await ada.context().close();
  }, 90_000);
});
