import { describeWith, eventually, scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { oboUsers } from './oboRig.ts';
import { readDescription } from './webFields.ts';
import { sendRest, createServerOverRest, assignRole, readUserId } from './webRest.ts';
import { startWebRig, type WebRig } from './webRig.ts';

const vic = { id: 'vic', email: 'vic@example.test', name: 'Vic Visitor', roles: ['USER'] };
/** How often a page asks what its user may do. */
const RIGHTS_EVERY_MS = 15_000;

describeWith('chromium', 'the pages about servers', () => {
  let rig: WebRig;
  let notes: ScriptedHttpServer;
  let ada: Page;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    const tool = { name: 'remember', description: 'Keeps a note' };
    notes = await scriptedHttpServer({ era: 'legacy', tools: [tool] });
    rig = await startWebRig({
      addresses: [new URL(notes.url).host],
      users: [...oboUsers, vic],
      variables: { OPENID_GROUPS_CLAIM: 'groups' },
    });
    ada = await rig.openPage('ada');
    // Who was never there cannot be found, nor be given anything.
    for (const user of ['uma', 'gil', 'vic']) {
      const page = await rig.openPage(user);
      ids[user] = await readUserId(page);
      await page.context().close();
    }
    const maker = { USE: true, CREATE: true, SHARE: true };
    await assignRole(ada, ids['gil'] ?? '', { name: 'maker', permissions: maker });
    await assignRole(ada, ids['vic'] ?? '', { name: 'helper', permissions: maker });
  }, 180_000);
  afterAll(async () => {
    await rig?.close();
    await notes?.close();
  });

  const at = (path: string) => rig.origin + path;
  const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });
  const field = (within: Page | Locator, name: string) => within.getByRole('textbox', { name });
  const definition = (title: string) => ({ type: 'streamable-http', title, url: notes.url });
  const shareWith = (user: string, accessRoleId: string) => ({
    updated: [{ type: 'user', id: ids[user], accessRoleId }],
  });
  const mayCreate = (isAllowed: boolean) =>
    sendRest(ada, 'PATCH', '/api/admin/roles/helper', {
      permissions: { MCP_SERVERS: { CREATE: isAllowed } },
    });

  test('an address that is refused is told at its field, one that works is tested and then added', async () => {
    await ada.goto(at('/servers'));
    await button(ada, 'Add server').click();
    await button(ada, 'Set up manually').click();
    const dialog = ada.getByRole('dialog', { name: 'New server' });
    await field(dialog, 'Title').fill('Team notes');
    await button(dialog, 'Test').click();
    await dialog.getByText('Enter the server URL.').waitFor();
    await field(dialog, 'URL').fill('http://169.254.169.254/latest');
    await button(dialog, 'Test').click();
    await dialog.getByText('Fix the highlighted fields').waitFor();
    await eventually('said at the field', async () =>
      (await readDescription(field(dialog, 'URL'))).includes('The address is not allowed.'),
    );
    expect(await field(dialog, 'URL').getAttribute('aria-invalid')).toBe('true');
    await field(dialog, 'URL').fill(notes.url);
    await button(dialog, 'Test').click();
    await dialog.getByText('1 tool found.').waitFor();
    expect(Object.keys(await sendRest(ada, 'GET', '/api/mcp/servers'))).not.toContain('team-notes');
    await button(dialog, 'Add').click();
    await ada.waitForURL(at('/servers/team-notes'));
    await ada.getByText('“Team notes” added').waitFor();
    await ada.getByRole('heading', { name: 'Team notes', level: 1 }).waitFor();
    await ada.getByRole('link', { name: 'remember' }).waitFor();
  }, 120_000);

  test('a key is asked for, goes to the server with each call, and stands nowhere on its pages', async () => {
    const key = 'planted-key-4711';
    await ada.goto(at('/servers'));
    await button(ada, 'Add server').click();
    await button(ada, 'Set up manually').click();
    const dialog = ada.getByRole('dialog', { name: 'New server' });
    await field(dialog, 'Title').fill('With a key');
    await field(dialog, 'URL').fill(notes.url);
    await dialog.getByRole('combobox', { name: 'Authentication' }).selectOption('apiKey');
    await button(dialog, 'Add').click();
    await dialog.getByText('Enter the key.').waitFor();
    await field(dialog, 'Key').fill(key);
    await button(dialog, 'Add').click();
    await ada.waitForURL(at('/servers/with-a-key'));
    await ada.getByRole('link', { name: 'remember' }).click();
    await button(ada, 'Run').click();
    await ada.getByRole('region', { name: 'Result' }).getByText('Done', { exact: true }).waitFor();
    expect(notes.received('tools/call').at(-1)?.headers['authorization']).toBe(`Bearer ${key}`);
    await ada.goto(at('/servers/with-a-key'));
    await button(ada, 'Edit').click();
    const edit = ada.getByRole('dialog', { name: 'Edit “With a key”' });
    expect(await field(edit, 'Key').inputValue()).toBe('');
    expect(await readDescription(field(edit, 'Key'))).toContain('Stored. Leave empty to keep it');
    expect(await ada.content()).not.toContain(key);
  }, 120_000);

  test('the filter of the server list hides other servers and survives a reload', async () => {
    await createServerOverRest(ada, definition('Filtered'));
    await ada.goto(at('/servers'));
    const card = ada.getByRole('link', { name: 'Filtered' });
    await card.waitFor();
    await ada.getByRole('combobox', { name: 'Show' }).selectOption('attention');
    await card.waitFor({ state: 'detached' });
    await ada.reload();
    expect(await ada.getByRole('combobox', { name: 'Show' }).inputValue()).toBe('attention');
    expect(await card.count()).toBe(0);
    await ada.getByRole('combobox', { name: 'Show' }).selectOption('all');
    await card.waitFor();
  }, 60_000);

  test('what somebody else saved meanwhile is not overwritten, and is loaded on demand', async () => {
    const name = await createServerOverRest(ada, definition('Of two'));
    await ada.goto(at(`/servers/${name}`));
    await button(ada, 'Edit').click();
    const dialog = ada.getByRole('dialog', { name: 'Edit “Of two”' });
    await field(dialog, 'Description').fill('Mine');
    const config = { ...definition('Of two'), description: 'Theirs' };
    await sendRest(ada, 'PATCH', `/api/mcp/servers/${name}`, { config });
    await button(dialog, 'Save').click();
    await dialog.getByText('Someone else changed this server').waitFor();
    expect((await sendRest(ada, 'GET', `/api/mcp/servers/${name}`))['description']).toBe('Theirs');
    await button(dialog, 'Load latest version').click();
    await eventually('it is loaded', async () => {
      return (await field(dialog, 'Description').inputValue()) === 'Theirs';
    });
    await field(dialog, 'Description').fill('Of both');
    await button(dialog, 'Save').click();
    await ada.getByText('“Of two” saved').waitFor();
    expect((await sendRest(ada, 'GET', `/api/mcp/servers/${name}`))['description']).toBe('Of both');
  }, 120_000);

  test('its owner is asked, and then it is gone', async () => {
    const name = await createServerOverRest(ada, definition('Not for long'));
    await ada.goto(at(`/servers/${name}`));
    await button(ada, 'Delete').click();
    const question = ada.getByRole('dialog', { name: 'Delete “Not for long”?' });
    await button(question, 'Cancel').click();
    await ada.getByRole('heading', { name: 'Not for long', level: 1 }).waitFor();
    await button(ada, 'Delete').click();
    await button(question, 'Delete').click();
    await ada.getByText('“Not for long” deleted').waitFor();
    expect(ada.url()).toBe(at('/servers'));
    await ada.getByRole('link', { name: 'Not for long' }).waitFor({ state: 'detached' });
    expect(Object.keys(await sendRest(ada, 'GET', '/api/mcp/servers'))).not.toContain(name);
  }, 120_000);

  test('its owner gives it another title, and everything else of it stays', async () => {
    const config = { ...definition('Old name'), headers: { 'X-Team': 'kept' } };
    const name = await createServerOverRest(ada, config);
    await ada.goto(at(`/servers/${name}`));
    await button(ada, 'Edit').click();
    const dialog = ada.getByRole('dialog', { name: 'Edit “Old name”' });
    expect(await field(dialog, 'URL').inputValue()).toBe(notes.url);
    await field(dialog, 'Title').fill('New name');
    await button(dialog, 'Save').click();
    await ada.getByText('“New name” saved').waitFor();
    await ada.getByRole('heading', { name: 'New name', level: 1 }).waitFor();
    await sendRest(ada, 'POST', `/api/mcp/servers/${name}/tools/remember/call`, { arguments: {} });
    expect(notes.received('tools/call').at(-1)?.headers['x-team']).toBe('kept');
  }, 120_000);

  test('its owner finds somebody and shares it; they use its tools, and are offered nothing else', async () => {
    const name = await createServerOverRest(ada, definition('For the team'));
    await ada.goto(at(`/servers/${name}`));
    await button(ada, 'Share').click();
    const dialog = ada.getByRole('dialog', { name: 'Share “For the team”' });
    await dialog.getByRole('combobox', { name: 'Share with' }).fill('uma');
    await dialog.getByRole('option', { name: /Uma User/ }).click();
    const access = dialog.getByRole('combobox', { name: 'Access of Uma User' });
    expect(await access.locator('option:checked').textContent()).toBe('Viewer');
    await button(dialog, 'Save').click();
    await ada.getByText('Sharing saved').waitFor();

    const uma = await rig.openPage('uma', { path: '/servers' });
    await uma.getByRole('link', { name: 'For the team' }).click();
    await uma.getByRole('heading', { name: 'For the team', level: 1 }).waitFor();
    await uma.getByText('Shared with you').waitFor();
    for (const name of ['Edit', 'Share', 'Delete', 'Add server'])
      expect(await button(uma, name).count()).toBe(0);
    // Where it is concerns those who may change it.
    expect(await uma.getByText(notes.url).count()).toBe(0);
    await uma.getByRole('link', { name: 'remember' }).click();
    await button(uma, 'Run').click();
    const result = uma.getByRole('region', { name: 'Result' });
    await result.getByText('Done', { exact: true }).waitFor();
    await uma.context().close();
  }, 120_000);

  test('with a group, with a role and with everybody, each until it is taken back', async () => {
    const name = await createServerOverRest(ada, definition('For many'));
    const others: Record<string, Page> = {};
    for (const user of ['uma', 'gil', 'vic']) others[user] = await rig.openPage(user);
    const seenBy = async () => {
      const seeing: string[] = [];
      for (const [user, page] of Object.entries(others)) {
        if (name in (await sendRest(page, 'GET', '/api/mcp/servers'))) seeing.push(user);
      }
      return seeing;
    };
    await ada.goto(at(`/servers/${name}`));
    const dialog = ada.getByRole('dialog', { name: 'Share “For many”' });
    const share = async (change: () => Promise<unknown>) => {
      await button(ada, 'Share').click();
      await change();
      await button(dialog, 'Save').click();
      await dialog.waitFor({ state: 'detached' });
      return seenBy();
    };
    const pick = async (text: string, option: RegExp) => {
      await dialog.getByRole('combobox', { name: 'Share with' }).fill(text);
      await dialog.getByRole('option', { name: option }).click();
    };
    const publicSwitch = dialog.getByRole('switch', { name: 'Everyone in your organization' });
    expect(await seenBy()).toEqual([]);
    // Of these, Uma alone is in it; the role is Gil's.
    expect(await share(() => pick('staff', /^staff.*[Gg]roup/))).toEqual(['uma']);
    expect(await share(() => pick('maker', /^maker.*Role/))).toEqual(['uma', 'gil']);
    expect(await share(() => publicSwitch.check())).toEqual(['uma', 'gil', 'vic']);
    expect(await share(() => publicSwitch.uncheck())).toEqual(['uma', 'gil']);
    expect(await share(() => button(dialog, 'Remove staff').click())).toEqual(['gil']);
    expect(await share(() => button(dialog, 'Remove maker').click())).toEqual([]);
    for (const page of Object.values(others)) await page.context().close();
  }, 120_000);

  test('whoever may define servers of their own is not offered to change one that they only see', async () => {
    const name = await createServerOverRest(
      ada,
      definition('To look at'),
      shareWith('gil', 'mcpServer_viewer'),
    );
    const gil = await rig.openPage('gil', { path: `/servers/${name}` });
    await gil.getByRole('link', { name: 'remember' }).waitFor();
    for (const name of ['Edit', 'Share', 'Delete']) expect(await button(gil, name).count()).toBe(0);
    await gil.goto(at('/servers'));
    await button(gil, 'Add server').waitFor();
    await gil.context().close();
  }, 120_000);

  test('On-Behalf-Of is offered to those whose role may configure it, and to nobody else', async () => {
    const offered = async (page: Page) => {
      await button(page, 'Add server').click();
      await button(page, 'Set up manually').click();
      const choice = page.getByRole('dialog').getByRole('combobox', { name: 'Authentication' });
      return (await choice.locator('option').allTextContents()).map((text) => text.split(':')[0]);
    };
    await ada.goto(at('/servers'));
    expect(await offered(ada)).toEqual(['None', 'API key', 'OAuth', 'On-Behalf-Of']);
    const gil = await rig.openPage('gil', { path: '/servers' });
    expect(await offered(gil)).toEqual(['None', 'API key', 'OAuth']);
    await gil.context().close();
  }, 120_000);

  test('who edits a server with On-Behalf-Of and may not configure it changes its texts, and nothing else', async () => {
    const config = { ...definition('Letters'), obo: { scopes: 'api://mail/.default' } };
    const name = await createServerOverRest(ada, config, shareWith('gil', 'mcpServer_editor'));
    const gil = await rig.openPage('gil', { path: `/servers/${name}` });
    await button(gil, 'Edit').click();
    const dialog = gil.getByRole('dialog', { name: 'Edit “Letters”' });
    await dialog.getByText('You can change only the title and description').waitFor();
    expect(await field(dialog, 'URL').isDisabled()).toBe(true);
    expect(await field(dialog, 'Token scopes').isDisabled()).toBe(true);
    for (const name of ['Transport', 'Authentication'])
      expect(await dialog.getByRole('combobox', { name }).isDisabled()).toBe(true);
    await field(dialog, 'Title').fill('Letters and parcels');
    await button(dialog, 'Save').click();
    await gil.getByText('“Letters and parcels” saved').waitFor();
    const storedServer = await sendRest(ada, 'GET', `/api/mcp/servers/${name}`);
    expect(storedServer).toMatchObject({ ...config, title: 'Letters and parcels' });
    await gil.context().close();
  }, 120_000);

  test('what somebody may not do any more goes away while they look, in words and without a reload', async () => {
    await mayCreate(true);
    const page = await rig.openPage('vic');
    await page.clock.install();
    await page.goto(at('/servers'));
    await button(page, 'Add server').waitFor();
    await page.evaluate('window.isSamePage = true');
    await mayCreate(false);
    await page.clock.fastForward(RIGHTS_EVERY_MS);
    await button(page, 'Add server').waitFor({ state: 'detached' });
    await page.getByText('Your permissions have changed.').waitFor();
    expect(await page.evaluate('window.isSamePage')).toBe(true);
    await page.context().close();
  }, 120_000);

  test('On-Behalf-Of that was chosen is marked when its right is taken away, and cannot be chosen again', async () => {
    const mayConfigure = (CONFIGURE_OBO: boolean) =>
      sendRest(ada, 'PATCH', '/api/admin/roles/helper', {
        permissions: { MCP_SERVERS: { CREATE: true, CONFIGURE_OBO } },
      });
    await mayConfigure(true);
    const page = await rig.openPage('vic');
    await page.clock.install();
    await page.goto(at('/servers'));
    await button(page, 'Add server').click();
    await button(page, 'Set up manually').click();
    const dialog = page.getByRole('dialog', { name: 'New server' });
    const choice = dialog.getByRole('combobox', { name: 'Authentication' });
    await field(dialog, 'Title').fill('Letters of Vic');
    await field(dialog, 'URL').fill(notes.url);
    await choice.selectOption('obo');
    await field(dialog, 'Token scopes').fill('api://mail/.default');
    await mayConfigure(false);
    await page.clock.fastForward(RIGHTS_EVERY_MS);
    await dialog.getByText('Your role no longer has CONFIGURE_OBO.').waitFor();
    expect(await choice.getAttribute('aria-invalid')).toBe('true');
    expect(await field(dialog, 'Title').inputValue()).toBe('Letters of Vic');
    await button(dialog, 'Add').click();
    await page.clock.runFor(1_000);
    await dialog.getByRole('alert').first().waitFor();
    expect(Object.keys(await sendRest(ada, 'GET', '/api/mcp/servers'))).not.toContain('letters-of-vic');
    await choice.selectOption('none');
    expect(await choice.locator('option[value=obo]').count()).toBe(0);
    await page.context().close();
  }, 120_000);

  test('what was begun before is refused in words, and what was typed stays', async () => {
    await mayCreate(true);
    const page = await rig.openPage('vic', { path: '/servers' });
    await button(page, 'Add server').click();
    await button(page, 'Set up manually').click();
    const dialog = page.getByRole('dialog', { name: 'New server' });
    await field(dialog, 'Title').fill('Too late');
    await field(dialog, 'URL').fill(notes.url);
    await mayCreate(false);
    await button(dialog, 'Add').click();
    await dialog.getByText('Your role no longer allows this.').waitFor();
    expect(await field(dialog, 'Title').inputValue()).toBe('Too late');
    expect(await button(dialog, 'Add').isDisabled()).toBe(true);
    expect(Object.keys(await sendRest(ada, 'GET', '/api/mcp/servers'))).not.toContain('too-late');
    await page.context().close();
  }, 120_000);
});
