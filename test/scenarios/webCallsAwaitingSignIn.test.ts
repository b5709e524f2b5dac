import { describeWith } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { callThenReport } from './chatRig.ts';
import { decideConsent, openPopup, startConnectRig, type ConnectRig } from './webConnectRig.ts';

describeWith('chromium', 'a call that needs a sign-in', () => {
  let rig: ConnectRig;
  beforeAll(async () => {
    rig = await startConnectRig();
  }, 120_000);
  afterAll(() => rig?.close());

  /** What the server did; what it refused is no call. */
  const notes = () =>
    rig.notes.guardedRequests
      .filter(({ status, request }) => status === 'served' && request.message?.method === 'tools/call')
      .map(({ request }) => request.message?.params?.['arguments']);
  const result = (page: Page) => page.getByRole('region', { name: 'Result' });
  const field = (page: Page) => page.getByRole('textbox', { name: 'Text' });
  const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click();
  const connect = (page: Page, name = 'Connect') =>
    openPopup(page, () => page.getByRole('button', { name, exact: true }).first().click());

  /** Connects in one's own name, and ends that at the authorization server. */
  async function lost(user: string): Promise<Page> {
    const page = await rig.openPage(user, { path: '/servers/notes' });
    await decideConsent(await connect(page), 'Allow');
    await page.getByText('The server accepted your sign-in.').waitFor();
    for (const { token } of rig.notes.guardedRequests) if (token) rig.authorization.endFamily(token.familyId);
    return page;
  }

  test('in the console it is made by itself after the sign-in, as it was', async () => {
    const page = await lost('bea');
    await page.goto(`${rig.origin}/tools/notes/note`);
    await field(page).fill('first thing');
    await run(page);
    await result(page).getByText('Your sign-in is no longer accepted.', { exact: false }).waitFor();
    await result(page).getByText('Needs sign-in', { exact: true }).waitFor();
    // What is typed meanwhile is not what was asked for.
    await field(page).fill('second thing');
    expect(notes()).toEqual([]);
    await decideConsent(await connect(page), 'Allow');
    await result(page).getByText('kept: first thing', { exact: true }).waitFor();
    expect(notes()).toEqual([{ text: 'first thing' }]);
    await page.context().close();
  }, 120_000);

  test('in the chat the answer waits for it, and goes on by itself', async () => {
    const page = await lost('cem');
    const before = notes().length;
    rig.model.setScript(callThenReport({ name: 'note_mcp_notes', args: { text: 'from the chat' } }));
    await page.goto(`${rig.origin}/chat`);
    await page.getByRole('textbox', { name: 'Your message' }).fill('Keep a note');
    await page.keyboard.press('Enter');
    const card = page.getByRole('article', { name: 'Tool call: note on The notes' });
    await card.getByText('The answer continues automatically').waitFor();
    await card.getByText('Waiting for you', { exact: true }).waitFor();
    expect(notes()).toHaveLength(before);
    await decideConsent(await connect(page), 'Allow');
    await card.getByText('kept: from the chat', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(notes()).toHaveLength(before + 1);
    await page.context().close();
  }, 120_000);

  test('also when the sign-in was in another window, and without it when its user wants that', async () => {
    const page = await lost('dov');
    const before = notes().length;
    rig.model.setScript(callThenReport({ name: 'note_mcp_notes', args: { text: 'twice' } }));
    await page.goto(`${rig.origin}/chat`);
    const say = async () => {
      await page.getByRole('textbox', { name: 'Your message' }).fill('Keep a note');
      await page.keyboard.press('Enter');
    };
    const cards = page.getByRole('article', { name: 'Tool call: note on The notes' });
    await say();
    await cards.getByRole('button', { name: 'Continue without signing in' }).click();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    await cards.getByText('Failed', { exact: true }).waitFor();
    expect(notes()).toHaveLength(before);
    await say();
    await cards.last().getByText('The answer continues automatically').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${rig.origin}/servers/notes`);
    await decideConsent(await connect(other, 'Connect again'), 'Allow');
    await cards.last().getByText('kept: twice', { exact: true }).waitFor();
    expect(notes()).toHaveLength(before + 1);
    await page.context().close();
  }, 120_000);

  test('a sign-in that does not reach far enough is asked for more, and only that call waits for it', async () => {
    const page = await rig.openPage('eva', { path: '/servers/notes' });
    await decideConsent(await connect(page), 'Allow');
    await page.getByText('The server accepted your sign-in.').waitFor();
    rig.notes.guard({ requiredScope: 'mcp:admin', requiredScopeFor: 'note' });
    await page.goto(`${rig.origin}/tools/notes/note`);
    await field(page).fill('further');
    await run(page);
    await result(page).getByText('Your sign-in lacks the required permissions.', { exact: false }).waitFor();
    await result(page).getByText('mcp:admin', { exact: true }).waitFor();
    const opened = await connect(page);
    expect(new URL(opened.url()).searchParams.get('scope')?.split(' ')).toContain('mcp:admin');
    await decideConsent(opened, 'Allow');
    await result(page).getByText('kept: further', { exact: true }).waitFor();
    rig.notes.guard({ requiredScope: '', requiredScopeFor: null });
    await page.context().close();
  }, 120_000);
});
