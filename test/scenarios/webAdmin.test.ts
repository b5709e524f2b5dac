import { readFile, writeFile } from 'node:fs/promises';
import { systemClock, type Clock } from '@behalf/kernel';
import { describeWith, eventually, freePort } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { oboUsers } from './oboRig.ts';
import { sendRest, assignRole, readUserId } from './webRest.ts';
import { startWebRig, type WebRig } from './webRig.ts';

const vic = { id: 'vic', email: 'vic@example.test', name: 'Vic Visitor', roles: ['USER'] };
const SECRET = 'planted-key-of-the-safe';
const HOUR_MS = 3_600_000;
/** How often a page asks what its user may do. */
const RIGHTS_EVERY_MS = 15_000;

describeWith('chromium', 'the administration and the settings', () => {
  let rig: WebRig;
  let ada: Page;
  let ahead = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead };
  beforeAll(async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}/mcp`;
    rig = await startWebRig({
      ...{ clock, users: [...oboUsers, vic], addresses: [new URL(nowhere).host] },
      servers: `  attic: { type: streamable-http, title: The attic, url: '${nowhere}' }
  safe: { type: streamable-http, url: '${nowhere}', headers: { Authorization: 'Bearer ${SECRET}' } }
interface:
  mcpServers: { share: false }`,
    });
    ada = await rig.openPage('ada');
  }, 180_000);
  afterAll(() => rig?.close());

  const at = (path: string) => rig.origin + path;
  const button = (within: Page | Locator, name: string | RegExp) =>
    within.getByRole('button', { name, exact: true });
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
  const permissions = (role: string) => ada.getByRole('group', { name: `Permissions of ${role}` });
  const statusOf = async (page: Page, path = '/api/user') => (await page.request.get(at(path))).status();

  test('CONFIGURE_OBO that is switched on in the page counts for somebody else at once, and is gone when it is off', async () => {
    const gil = await rig.openPage('gil');
    const maker = { name: 'maker', permissions: { USE: true, CREATE: true } };
    await assignRole(ada, await readUserId(gil), maker);
    const config = {
      ...{ type: 'streamable-http', title: 'Letters', url: rig.desk.server.url },
      obo: { scopes: 'api://mail/.default' },
    };
    const answered = async () => {
      const headers = { 'x-behalf-csrf': '1' };
      const answer = await gil.request.post(at('/api/mcp/servers/check'), { data: { config }, headers });
      return ((await answer.json()) as { code?: string }).code ?? answer.status();
    };
    await ada.goto(at('/admin/roles'));
    const obo = permissions('maker').getByRole('switch', { name: 'Configure On-Behalf-Of' });
    expect([await obo.isChecked(), await answered()]).toEqual([false, 'MCP_OBO_FORBIDDEN']);
    await obo.check();
    await eventually('it counts', async () => (await answered()) === 200);
    await gil.goto(at('/servers'));
    await button(gil, 'Add server').click();
    await button(gil, 'Set up manually').click();
    const choice = gil.getByRole('dialog').getByRole('combobox', { name: 'Authentication' });
    expect(await choice.locator('option[value=obo]').count()).toBe(1);
    await obo.uncheck();
    await eventually('it is gone', async () => (await answered()) === 'MCP_OBO_FORBIDDEN');
    await gil.context().close();
  }, 120_000);

  test('one that the configuration decides is locked, and what somebody else changed meanwhile is told', async () => {
    await ada.goto(at('/admin/roles'));
    const share = permissions('USER').getByRole('switch', { name: 'Share servers' });
    await share.waitFor();
    expect([await share.isDisabled(), await share.isChecked()]).toEqual([true, false]);
    await permissions('USER').getByText('Set in the configuration (interface.mcpServers)').waitFor();

    await sendRest(ada, 'PATCH', '/api/admin/roles/USER', { description: 'Changed elsewhere' });
    const create = permissions('USER').getByRole('switch', { name: 'Create servers' });
    await create.click();
    await ada.getByText('Could not change “Create servers” of USER').waitFor();
    await ada.getByText('Someone else changed this role.').waitFor();
    await ada.getByText('Changed elsewhere').waitFor();
    expect(await create.isChecked()).toBe(false);
    await create.check();
    await eventually('now it counts', async () => {
      const roles = JSON.stringify(await sendRest(ada, 'GET', '/api/admin/roles/USER'));
      return roles.includes('"CREATE":true');
    });
    await create.uncheck();
  }, 120_000);

  test('a role is made with what it allows, and deleted once nobody has it', async () => {
    await ada.goto(at('/admin/roles'));
    await button(ada, 'Create role').click();
    const form = dialog(ada, 'Create role');
    await form.getByRole('textbox', { name: 'Name' }).fill('Helpers');
    await form.getByRole('switch', { name: 'Create servers' }).check();
    await button(form, 'Create role').click();
    await ada.getByText('Role Helpers created').waitFor();
    const create = permissions('Helpers').getByRole('switch', { name: 'Create servers' });
    await create.waitFor();
    expect(await create.isChecked()).toBe(true);
    await button(ada, 'Delete role Helpers').click();
    await button(dialog(ada, 'Delete role Helpers?'), 'Delete').click();
    await ada.getByText('Role Helpers deleted').waitFor();
    await permissions('Helpers').waitFor({ state: 'detached' });

    await button(ada, 'Delete role maker').click();
    const refused = dialog(ada, 'Delete role maker?');
    await button(refused, 'Delete').click();
    await refused.getByRole('alert').waitFor();
    expect(JSON.stringify(await sendRest(ada, 'GET', '/api/admin/roles'))).toContain('"maker"');
  }, 120_000);

  test('who is given another role has it, who is signed out or disabled is out at once', async () => {
    const page = await rig.openPage('vic', { path: '/settings' });
    await ada.goto(at('/admin/users'));
    await ada.getByRole('combobox', { name: 'Role of Vic Visitor' }).selectOption('maker');
    await eventually(
      'the role is theirs',
      async () => (await sendRest(page, 'GET', '/api/user'))['role'] === 'maker',
    );
    await button(ada, 'Details and sessions of Vic Visitor').click();
    const details = dialog(ada, 'Vic Visitor');
    await details.getByText('maker, set manually').waitFor();
    await button(details, 'End all').click();
    await ada.getByText('1 session ended').waitFor();
    await details.getByText('No active sessions.').waitFor();
    expect(await statusOf(page)).toBe(401);
    await button(details, 'Close').click();
    await page.context().close();

    const again = await rig.openPage('vic', { path: '/settings' });
    await button(ada, 'Disable Vic Visitor').click();
    await button(dialog(ada, 'Disable Vic Visitor?'), 'Disable').click();
    await ada.getByText('Vic Visitor can no longer sign in').waitFor();
    expect(await statusOf(again)).toBe(401);
    await again.context().close();
    await button(ada, 'Enable Vic Visitor').click();
    await button(ada, 'Disable Vic Visitor').waitFor();
  }, 120_000);

  test('an administrator who is made a user while they look is told that this is not for them any more', async () => {
    const page = await rig.openPage('vic');
    const id = await readUserId(page);
    await sendRest(ada, 'PATCH', `/api/admin/users/${id}`, { role: 'ADMIN' });
    await page.clock.install();
    await page.goto(at('/admin/users'));
    await page.getByText('ada@example.test').waitFor();
    await page.evaluate('window.isSamePage = true');
    await sendRest(ada, 'PATCH', `/api/admin/users/${id}`, { role: 'USER' });
    await page.clock.fastForward(RIGHTS_EVERY_MS);
    await page.getByRole('heading', { name: 'Administrators only' }).waitFor();
    expect(await page.getByText('ada@example.test').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Administration' }).count()).toBe(0);
    expect(await page.evaluate('window.isSamePage')).toBe(true);
    await page.context().close();
  }, 120_000);

  test('a filter stands in the address, the export has the same, and the log is verified', async () => {
    await ada.goto(at('/admin/audit'));
    await ada.getByRole('combobox', { name: 'Category' }).selectOption('permission');
    await ada.waitForURL(at('/admin/audit?kind=permission'));
    await ada.getByRole('textbox', { name: 'Server ID' }).fill('none-of-ours');
    await button(ada, 'Apply filters').click();
    await ada.getByRole('heading', { name: 'No events found' }).waitFor();
    await ada.goBack();
    const events = ada.getByRole('main').getByRole('listitem');
    await events.filter({ hasText: 'Changed a role' }).first().waitFor();
    expect(await events.filter({ hasText: 'Signed in' }).count()).toBe(0);

    const coming = ada.waitForEvent('download');
    await ada.getByRole('link', { name: 'Export' }).click();
    const exported = await readFile(await (await coming).path(), 'utf8');
    const kinds = exported
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { kind?: string }).kind);
    expect(kinds.length).toBeGreaterThan(3);
    expect(new Set(kinds)).toEqual(new Set(['permission']));

    await button(ada, 'Verify log').click();
    await ada.getByText('The log is intact').waitFor();
    await ada.getByText(/^Checked \d+ events in/).waitFor();
  }, 120_000);

  test('what runs is shown without its secrets', async () => {
    await ada.goto(at('/admin/config'));
    await ada.getByText('safe:', { exact: true }).click();
    await ada.getByText('headers:', { exact: true }).click();
    const header = ada.getByRole('listitem').filter({ hasText: /^Authorization:/ });
    await header.getByText('hidden secret').waitFor();
    const secret = ada.getByRole('row', { name: /OPENID_CLIENT_SECRET/ });
    await secret.getByText('hidden secret').waitFor();
    const shown = (await ada.content()) + JSON.stringify(await sendRest(ada, 'GET', '/api/admin/config'));
    expect(shown).not.toContain(SECRET);
    expect(shown).not.toContain('secret-of-the-gateway');
  }, 120_000);

  test('a file with mistakes is refused at their places and changes nothing; a right one counts at once', async () => {
    const { file } = await sendRest(ada, 'GET', '/api/admin/config');
    const before = await readFile(String(file), 'utf8');
    await writeFile(String(file), before.replace('title: Front desk', 'titel: Back desk'));
    await ada.goto(at('/admin/config'));
    await button(ada, 'Reload configuration').click();
    await ada.getByText('Reload failed. The previous configuration is still active.').waitFor();
    await ada.getByText('mcpServers.desk.titel').waitFor();
    await ada.getByText(/^line \d+$/).waitFor();
    expect(JSON.stringify(await sendRest(ada, 'GET', '/api/mcp/servers'))).toContain('Front desk');

    await writeFile(String(file), before.replace('title: Front desk', 'title: Back desk'));
    await button(ada, 'Reload configuration').click();
    await ada.getByText('Configuration reloaded').waitFor();
    await ada.getByText('Reload failed.').waitFor({ state: 'detached' });
    await ada.getByRole('link', { name: 'Servers' }).click();
    await ada.getByRole('link', { name: 'Back desk' }).waitFor();
  }, 120_000);

  test('a server that is left alone stands on top, here and among the connections', async () => {
    for (let failures = 0; failures < 3; failures += 1) {
      await sendRest(ada, 'POST', '/api/mcp/attic/reinitialize', {});
    }
    await ada.goto(at('/admin'));
    await ada.getByText('paused after errors').first().waitFor();
    await ada.getByRole('main').getByRole('link', { name: 'The attic' }).waitFor();
    await ada.goto(at('/admin/connections'));
    const rows = ada.getByRole('list', { name: 'Live connections' }).getByRole('listitem');
    await rows.filter({ hasText: 'paused' }).filter({ hasText: 'The attic' }).waitFor();
    expect(await rows.first().textContent()).toContain('paused');
  }, 120_000);

  test('calls are counted in the range that is chosen, which stands in the address', async () => {
    await sendRest(ada, 'POST', '/api/mcp/servers/desk/tools/echo/call', { arguments: { text: 'counted' } });
    await ada.goto(at('/admin'));
    await ada.getByText('1 call · 0 errors (0%)').waitFor();
    ahead += 2 * HOUR_MS;
    await ada.reload();
    await ada.getByRole('heading', { name: 'Last hour: no calls' }).waitFor();
    await ada.getByRole('radio', { name: 'Last day' }).check();
    await ada.waitForURL(at('/admin?range=day'));
    await ada.getByText('1 call · 0 errors (0%)').waitFor();
    await ada.reload();
    await ada.getByText('1 call · 0 errors (0%)').waitFor();
    expect(await ada.getByRole('radio', { name: 'Last day' }).isChecked()).toBe(true);
  }, 120_000);

  test('colours that somebody chose stay when they come again', async () => {
    const theme = () => ada.evaluate<string>('document.documentElement.dataset.theme');
    await ada.goto(at('/settings'));
    expect(await theme()).toBe('light');
    await ada.getByRole('radio', { name: 'Dark' }).check();
    expect(await theme()).toBe('dark');
    await ada.reload();
    const chosen = ada.getByRole('radio', { name: 'Dark' });
    await chosen.waitFor();
    expect([await theme(), await chosen.isChecked()]).toEqual(['dark', true]);
    await ada.getByRole('radio', { name: 'System' }).check();
    expect(await theme()).toBe('light');
  }, 120_000);

  test('a new key is shown once and works; deleted, it is refused', async () => {
    await ada.goto(at('/settings'));
    await button(ada, 'Create key').click();
    const form = dialog(ada, 'Create API key');
    await button(form, 'Create key').click();
    await form.getByText('Enter a name.').waitFor();
    await form.getByRole('textbox', { name: 'Name' }).fill('A program');
    await button(form, 'Create key').click();
    const once = dialog(ada, 'Key A program');
    const key = await once.getByRole('textbox', { name: 'Key', exact: true }).inputValue();
    const used = async () =>
      (await fetch(`${rig.url}/api/mcp/servers`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await used()).toBe(200);
    await button(once, 'Done').click();
    await ada.getByText('A program', { exact: false }).first().waitFor();
    expect(await ada.content()).not.toContain(key);
    await ada.reload();
    await button(ada, 'Delete key A program').click();
    expect(await ada.content()).not.toContain(key);
    await button(dialog(ada, 'Delete key A program?'), 'Delete').click();
    await ada.getByText('Key A program deleted').waitFor();
    expect(await used()).toBe(401);
    await ada.getByText('No API keys yet.').waitFor();
  }, 120_000);
});
