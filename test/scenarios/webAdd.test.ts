import {
  describeWith,
  guardedMcpServer,
  startAuthorizationServer,
  type AuthorizationServer,
  type GuardedMcpServer,
} from '@behalf/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { decideConsent, openPopup, startConnectRig, startNotes, type ConnectRig } from './webConnectRig.ts';
import { sendRest } from './webRest.ts';

describeWith('chromium', 'a server that is found by its address', () => {
  let rig: ConnectRig;
  let authorization: AuthorizationServer;
  let diary: GuardedMcpServer;
  let vault: GuardedMcpServer;
  let ada: Page;
  beforeAll(async () => {
    rig = await startConnectRig(undefined, {
      yaml: async () => {
        // One that no server of the file uses: those of the operator are not for servers of users.
        authorization = await startAuthorizationServer({ consent: 'ask' });
        diary = await startNotes(authorization);
        vault = await guardedMcpServer({
          ...{ era: 'legacy', authorizationServer: authorization },
          // It says nothing of where to sign in, and takes any token of that service.
          guard: { challenge: 'none', documents: 'none', checksAudience: false },
          tools: [{ name: 'open', description: 'Opens it' }],
        });
        return { yaml: '', urls: [diary.url, vault.url, authorization.issuer] };
      },
    });
  }, 120_000);
  afterAll(async () => {
    await rig?.close();
    await diary?.close();
    await vault?.close();
    await authorization?.close();
  });
  afterEach(() => ada.context().close());

  async function begin(): Promise<Locator> {
    ada = await rig.openPage('ada', { path: '/servers' });

    await ada.getByRole('button', { name: 'Add server' }).click();
    const dialog = ada.getByRole('dialog', { name: 'Add an MCP server' });
    await dialog.waitFor();
    return dialog;
  }
  async function lookAt(url: string): Promise<Locator> {
    const dialog = await begin();
    await dialog.getByRole('textbox', { name: /^URL/ }).fill(url);
    await ada.keyboard.press('Enter');
    return dialog;
  }
  const countRequests = () => authorization.received('authorize').length;
  const press = (place: Locator, name: string) => place.getByRole('button', { name, exact: true }).click();
  const tool = (dialog: Locator, name: string) =>
    dialog.getByRole('list', { name: 'Tools of the server' }).getByText(name, { exact: true }).waitFor();
  const names = async () => Object.keys(await sendRest(ada, 'GET', '/api/mcp/servers'));
  /** Gives it a title and saves it. */
  async function save(title: string): Promise<Locator> {
    const details = ada.getByRole('dialog', { name: 'New server' });
    await details.getByRole('textbox', { name: 'Title' }).fill(title);
    await press(details, 'Add');
    await ada.getByRole('heading', { name: title, exact: true }).waitFor();
    return details;
  }

  test('is asked, shown with its tools, and saved under a title', async () => {
    const dialog = await lookAt('http://169.254.169.254/mcp');
    await dialog.getByText('is not allowed', { exact: false }).waitFor();
    await dialog.getByRole('textbox', { name: /^URL/ }).fill(rig.desk.server.url);
    await press(dialog, 'Continue');
    await tool(dialog, 'echo');
    const before = await names();
    await press(dialog, 'Continue');
    const details = ada.getByRole('dialog', { name: 'New server' });
    expect(await details.getByRole('textbox', { name: /^URL/ }).inputValue()).toBe(rig.desk.server.url);
    expect(await names()).toEqual(before);
    await save('Second desk');
    expect(await names()).toHaveLength(before.length + 1);
  }, 120_000);

  test('is signed in at first; what was granted goes to the saved server, and nobody is asked twice', async () => {
    const dialog = await lookAt(diary.url);
    await dialog.getByText('Sign in to continue').waitFor();
    const before = await names();
    const opened = await openPopup(ada, () => press(dialog, 'Sign in'));
    await decideConsent(opened, 'Allow');
    await tool(dialog, 'note');
    expect(await names()).toEqual(before);
    const once = countRequests();
    await press(dialog, 'Continue');
    await save('My diary');
    await ada.getByText('You are already signed in.').waitFor();
    await ada.goto(`${rig.origin}/tools/my-diary/note`);
    await ada.getByRole('textbox', { name: 'Text' }).fill('dear diary');
    await press(ada.locator('main'), 'Run');
    await ada.getByText('kept: dear diary', { exact: true }).waitFor();
    expect(countRequests()).toBe(once);
  }, 120_000);

  test('is denied by its user, and can be signed in at again', async () => {
    const dialog = await lookAt(diary.url);
    await dialog.getByText('Sign in to continue').waitFor();
    await decideConsent(await openPopup(ada, () => press(dialog, 'Sign in')), 'Deny');
    await dialog.getByText('Access was denied').waitFor();
    await decideConsent(await openPopup(ada, () => press(dialog, 'Connect again')), 'Allow');
    await tool(dialog, 'note');
  }, 120_000);

  test('is signed in at in the page where no window opens, and goes on where it was', async () => {
    const dialog = await begin();
    await ada.evaluate('window.open = () => null');
    await dialog.getByRole('textbox', { name: /^URL/ }).fill(diary.url);
    await press(dialog, 'Continue');
    await press(dialog, 'Sign in');
    await dialog.getByRole('link', { name: 'Continue in this window' }).click();
    await decideConsent(ada, 'Allow');
    await ada.getByRole('link', { name: 'Back to Behalf' }).click();
    await tool(ada.getByRole('dialog', { name: 'Add an MCP server' }), 'note');
  }, 120_000);

  test('names no place to sign in: a token or key is asked for, tried, and stands in the details', async () => {
    const dialog = await lookAt(vault.url);
    const form = dialog.getByRole('group', { name: 'This server needs a token or API key' });
    await form.getByRole('textbox', { name: 'Key' }).fill('not this one');
    await press(form, 'Connect');
    await dialog.getByText('The server rejected the token or key').waitFor();
    const good = diary.guardedRequests.findLast(({ status }) => status === 'served')?.bearer ?? '';
    expect(good).not.toBe('');
    await form.getByRole('textbox', { name: 'Key' }).fill(good);
    await ada.keyboard.press('Enter');
    await tool(dialog, 'open');
    expect(await ada.locator('body').innerText()).not.toContain(good);
    await press(dialog, 'Continue');
    const details = ada.getByRole('dialog', { name: 'New server' });
    expect(await details.getByRole('textbox', { name: 'Key' }).inputValue()).toBe(good);
    await save('The vault');
  }, 120_000);

  test('refuses the new sign-in: a hint says whether it is about the audience or the scopes', async () => {
    diary.guard({ refuse: 'unauthorized' });
    const dialog = await lookAt(diary.url);
    await decideConsent(await openPopup(ada, () => press(dialog, 'Sign in')), 'Allow');
    await dialog.getByText('The server rejected your sign-in').waitFor();
    await dialog.getByText('another audience', { exact: false }).waitFor();
    diary.guard({ refuse: 'nothing', requiredScope: 'mcp:admin' });
    await press(dialog, 'Sign in again');
    await decideConsent(await openPopup(ada, () => press(dialog, 'Sign in')), 'Allow');
    await dialog.getByText('Your sign-in is missing required scopes').waitFor();
    await dialog.getByText('mcp:admin', { exact: true }).first().waitFor();
    await press(dialog, 'Edit details');
    const details = ada.getByRole('dialog', { name: 'New server' });
    expect(await details.getByRole('textbox', { name: 'Scopes' }).inputValue()).toContain('mcp:admin');
    diary.guard({ requiredScope: '' });
  }, 120_000);
});
