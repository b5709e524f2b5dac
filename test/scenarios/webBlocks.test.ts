import {
  describeWith,
  eventually,
  guardedMcpServer,
  scriptedHttpServer,
  type GuardedMcpServer,
  type ScriptedHttpServer,
} from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { decideConsent, openPopup, startConnectRig, type ConnectRig } from './webConnectRig.ts';
import { isFocused } from './webKeys.ts';
import { sendRest, createServerOverRest, readUserId } from './webRest.ts';

const text = { type: 'string', title: 'Text' };
const said = { type: 'object', properties: { text }, required: ['text'] };

describeWith('chromium', 'blocks in the interface', () => {
  let rig: ConnectRig;
  let guests: GuardedMcpServer;
  let workbench: ScriptedHttpServer;
  beforeAll(async () => {
    workbench = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'put', inputSchema: said }] });
    rig = await startConnectRig(undefined, {
      yaml: async (authorizationServer) => {
        guests = await guardedMcpServer({
          ...{ era: 'legacy', authorizationServer, guard: { access: 'anonymous' } },
          tools: [{ name: 'look', description: 'Looks around' }],
        });
        return {
          yaml: `  guests: { type: streamable-http, title: The guests, url: '${guests.url}', auth: optional }\n`,
          urls: [guests.url, workbench.url],
        };
      },
    });
  }, 120_000);
  afterAll(async () => {
    await rig?.close();
    await guests?.close();
    await workbench?.close();
  });

  /** What the server did, and for whom; what it refused is no call. */
  const notes = () =>
    rig.notes.guardedRequests.filter(
      ({ status, request }) => status === 'served' && request.message?.method === 'tools/call',
    );
  const result = (page: Page) => page.getByRole('region', { name: 'Result' });
  const field = (page: Page) => page.getByRole('textbox', { name: 'Text' });
  const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click();
  const ready = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  const radios = (page: Page) => page.getByRole('group', { name: 'Your sign-in to' }).getByRole('radio');
  const labels = async (page: Page) =>
    Promise.all((await radios(page).all()).map((one) => one.getAttribute('value')));
  const chosen = async (page: Page) => {
    const all = await radios(page).all();
    const values = await Promise.all(
      all.map(async (one) => ((await one.isChecked()) ? await one.getAttribute('value') : undefined)),
    );
    return values.filter((value) => value !== undefined);
  };

  async function save(page: Page, block: object): Promise<string> {
    return String((await sendRest(page, 'POST', '/api/mcp/blocks', block))['id']);
  }
  async function shareWith(owner: Page, id: string, other: Page): Promise<void> {
    const updated = [{ type: 'user', id: await readUserId(other), accessRoleId: 'mcpServer_viewer' }];
    await sendRest(owner, 'PUT', `/api/permissions/block/${id}`, { updated, removed: [], public: false });
  }
  /** Signs in at a server as whoever has this window, under a name. */
  async function connectAs(page: Page, server: string, label: string): Promise<void> {
    const { connectUrl } = await sendRest(page, 'POST', `/api/mcp/${server}/oauth/start`, { label });
    await page.goto(String(connectUrl));
    await decideConsent(page, 'Allow');
    await page.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
  }
  const open = (page: Page, id: string) => page.goto(`${rig.origin}/blocks/${id}`);

  test('a public server: chosen, filled in, saved, reloaded and run without any credential', async () => {
    const page = await rig.openPage('bea', { path: '/blocks' });
    await page.getByRole('heading', { name: 'No blocks yet' }).waitFor();
    await page.getByRole('link', { name: 'New block' }).first().click();
    await page.getByLabel('Server').selectOption('desk');
    await page.getByLabel('Tool').selectOption('echo');
    await page.getByRole('textbox', { name: 'Title' }).fill('Say it <b>loudly</b>');
    const mode = (input: string, name: string) =>
      page
        .getByRole('group', { name: `Input ${input}` })
        .getByRole('radio', { name })
        .check();
    await mode('Tone', 'Fixed');
    // A value that is missing is told before anything is saved.
    await page.getByRole('button', { name: 'Save block' }).click();
    await page.getByText('Enter a value.').waitFor();
    await page.getByRole('combobox', { name: 'Tone' }).selectOption({ label: 'loud' });
    await mode('Times', 'Default');
    await page.getByRole('textbox', { name: 'Times' }).fill('2');
    await page.getByRole('button', { name: 'Save block' }).click();
    await page.getByRole('heading', { name: 'Say it <b>loudly</b>' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Say it <b>loudly</b>' }).waitFor();
    await ready(page);
    expect(await page.getByRole('textbox', { name: 'Times' }).inputValue()).toBe('2');
    expect(await page.getByRole('combobox', { name: 'Tone' }).count()).toBe(0);
    expect(await radios(page).count()).toBe(0);
    await field(page).fill('hello');
    await run(page);
    await result(page).getByText('HELLO HELLO', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'All blocks' }).click();
    await page.getByText('Ready', { exact: true }).waitFor();
    await page.context().close();
  }, 120_000);

  test('an OAuth server that prompts: what is missing is named together, and the run goes on after the sign-in', async () => {
    const ada = await rig.openPage('ada');
    await connectAs(ada, 'notes', 'default');
    const id = await save(ada, { server: 'notes', tool: 'note', title: 'Keep a thought' });
    const page = await rig.openPage('cem', { path: '/blocks' });
    // Shared in the dialog, as people do.
    await open(ada, id);
    await ada.getByRole('button', { name: 'Share' }).click();
    const dialog = ada.getByRole('dialog', { name: 'Share “Keep a thought”' });
    await dialog.getByRole('combobox', { name: 'Share with' }).fill('cem');
    await dialog.getByRole('option', { name: 'cem@example.test' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await ada.getByText('Sharing saved').waitFor();
    await page.reload();
    await page.getByText('Needs sign-in', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Keep a thought' }).click();
    const needs = page.getByRole('region', { name: 'Before you can run it' });
    const group = needs.getByRole('region', { name: 'The notes' });
    await group.getByText('You are not signed in to this server.').waitFor();
    expect(await group.getByRole('listitem').allTextContents()).toEqual(['Text']);
    expect(await radios(page).count()).toBe(0);
    await field(page).fill('mine');
    await group.getByRole('listitem').waitFor({ state: 'detached' });
    const before = notes().length;
    const families = rig.notes.guardedRequests.map(({ token }) => token?.familyId);
    await run(page);
    await result(page).getByText('Needs sign-in', { exact: true }).waitFor();
    await group.getByText('The run then continues automatically.').waitFor();
    expect(notes()).toHaveLength(before);
    const opened = await openPopup(page, () =>
      group.getByRole('button', { name: 'Connect', exact: true }).click(),
    );
    await decideConsent(opened, 'Allow');
    await result(page).getByText('kept: mine', { exact: true }).waitFor();
    await needs.waitFor({ state: 'detached' });
    expect(notes()).toHaveLength(before + 1);
    // With the sign-in that was just made, and not with that of the author.
    const used = notes().at(-1)?.token?.familyId;
    expect(used).toBeDefined();
    expect(families).not.toContain(used);
    await radios(page).first().waitFor();
    expect([await labels(page), await chosen(page)]).toEqual([['default'], ['default']]);
    await page.context().close();
    await ada.context().close();
  }, 120_000);

  test('exactly one is preselected, several can be chosen, and choosing changes no order', async () => {
    const page = await rig.openPage('dov');
    await connectAs(page, 'notes', 'home');
    const id = await save(page, { server: 'notes', tool: 'note' });
    await open(page, id);
    await radios(page).first().waitFor();
    expect([await labels(page), await chosen(page)]).toEqual([['home'], ['home']]);
    await connectAs(page, 'notes', 'work');
    await connectAs(page, 'notes', 'attic');
    await open(page, id);
    await radios(page).nth(2).waitFor();
    const order = await labels(page);
    expect([...order].sort()).toEqual(['attic', 'home', 'work']);
    expect(await chosen(page)).toEqual(['home']);
    const families = new Set<unknown>();
    for (const label of ['work', 'attic', 'home']) {
      const answered = page.waitForResponse((response) => response.url().endsWith('/blocks/check'));
      await page.getByRole('radio', { name: label }).check();
      await answered;
      expect([await labels(page), await chosen(page)]).toEqual([order, [label]]);
      await field(page).fill(`with ${label}`);
      await run(page);
      await result(page).getByText(`kept: with ${label}`, { exact: true }).waitFor();
      families.add(notes().at(-1)?.token?.familyId);
    }
    expect(families.size).toBe(3);
    await page.context().close();
  }, 120_000);

  test('one that was chosen and is deleted meanwhile is not replaced by another, or by none', async () => {
    const page = await rig.openPage('eva');
    await connectAs(page, 'notes', 'home');
    await connectAs(page, 'notes', 'work');
    const id = await save(page, { server: 'notes', tool: 'note' });
    await open(page, id);
    await page.getByRole('radio', { name: 'work' }).check();
    await sendRest(page, 'DELETE', '/api/mcp/notes/credentials/work');
    await field(page).fill('nobody');
    const before = notes().length;
    await run(page);
    const needs = page.getByRole('region', { name: 'Before you can run it' });
    await needs.getByText('You are not signed in to this server.').waitFor();
    expect(notes()).toHaveLength(before);
    await page.context().close();
  }, 120_000);

  test('without a default credential nothing is preselected, and Run moves the focus to the choice', async () => {
    const page = await rig.openPage('eva');
    await connectAs(page, 'notes', 'home');
    await connectAs(page, 'notes', 'attic');
    await connectAs(page, 'notes', 'work');
    await sendRest(page, 'DELETE', '/api/mcp/notes/credentials/home');
    const id = await save(page, { server: 'notes', tool: 'note' });
    await open(page, id);
    await radios(page).nth(1).waitFor();
    expect(await chosen(page)).toEqual([]);
    await field(page).fill('nobody');
    const before = notes().length;
    await run(page);
    const choice = page.getByRole('group').filter({ has: page.getByRole('radio', { name: 'work' }) });
    await eventually('the choice has the focus', () => isFocused(choice));
    await choice.getByText('Choose a sign-in.').waitFor();
    expect(notes()).toHaveLength(before);
    await page.context().close();
  }, 120_000);

  test('where a sign-in is optional, None comes last for who has none; whoever has one uses it', async () => {
    const page = await rig.openPage('fay');
    const id = await save(page, { server: 'guests', tool: 'look', title: 'Look around' });
    await open(page, id);
    await page.getByRole('radio', { name: 'None' }).waitFor();
    expect([await labels(page), await chosen(page)]).toEqual([[''], ['']]);
    await run(page);
    await result(page).getByText('Done', { exact: true }).waitFor();
    await connectAs(page, 'guests', 'mine');
    await open(page, id);
    await page.getByRole('radio', { name: 'mine' }).waitFor();
    expect([await labels(page), await chosen(page)]).toEqual([['mine'], ['mine']]);
    await page.context().close();
  }, 120_000);

  test('what its author changes after it was opened is shown before it can be run', async () => {
    const ada = await rig.openPage('ada');
    const inputs = { tone: { mode: 'fixed', value: 'calm' } };
    const id = await save(ada, { server: 'desk', tool: 'echo', title: 'Say', inputs });
    const page = await rig.openPage('gil');
    await shareWith(ada, id, page);
    await open(page, id);
    await ready(page);
    await field(page).fill('psst');
    await sendRest(ada, 'PATCH', `/api/mcp/blocks/${id}`, {
      inputs: { tone: { mode: 'fixed', value: 'loud' } },
    });
    await run(page);
    await page.getByText('The block changed after you opened it').waitFor();
    await page.getByText('loud', { exact: true }).waitFor();
    // What was typed is still there.
    expect(await field(page).inputValue()).toBe('psst');
    await run(page);
    await result(page).getByText('PSST', { exact: true }).waitFor();
    await page.context().close();
    await ada.context().close();
  }, 120_000);

  test('a tool that asks first shows what the block brings, before it is called', async () => {
    const page = await rig.openPage('hal');
    const inputs = { place: { mode: 'fixed', value: 'the whole cellar' } };
    const id = await save(page, { server: 'desk', tool: 'wipe', inputs });
    await open(page, id);
    await run(page);
    const question = page.getByRole('group', { name: 'Allow this tool call?' });
    await question.getByText('the whole cellar').waitFor();
    const { wiped } = rig.desk.counts;
    await question.getByRole('button', { name: 'Approve' }).click();
    await result(page).getByText('the whole cellar is empty').waitFor();
    expect(rig.desk.counts.wiped).toBe(wiped + 1);
    await page.context().close();
  }, 120_000);

  test('a tool that changed is flagged with the difference; saving takes it over as it is', async () => {
    const page = await rig.openPage('ada');
    const server = await createServerOverRest(page, {
      ...{ type: 'streamable-http', title: 'Shelf', url: workbench.url },
    });
    const inputs = { text: { mode: 'fixed', value: 'a book' } };
    const id = await save(page, { server, tool: 'put', title: 'Put a book', inputs });
    const properties = { text, place: { type: 'string', title: 'Place' } };
    workbench.change({ tools: [{ name: 'put', inputSchema: { type: 'object', properties } }] });
    await sendRest(page, 'POST', `/api/mcp/${server}/reinitialize`, {});
    await page.goto(`${rig.origin}/blocks`);
    await page.getByText('added: place', { exact: false }).waitFor();
    await open(page, id);
    await page.getByText('The tool changed after the block was saved').waitFor();
    await page.getByText('Arguments: added: place', { exact: true }).waitFor();
    await page.getByText('now optional: text', { exact: false }).waitFor();
    await page.getByText('The block still runs.', { exact: false }).waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('group', { name: 'Input Place' }).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await ready(page);
    await page.getByText('Ready', { exact: true }).waitFor();
    await page.getByText('The tool changed after the block was saved').waitFor({ state: 'detached' });
    await page.context().close();
  }, 120_000);

  test('a server that is not shared with who looks, or was removed, is said; there is nothing to run', async () => {
    const ada = await rig.openPage('ada');
    const server = await createServerOverRest(ada, {
      ...{ type: 'streamable-http', title: 'Own shelf', url: workbench.url },
    });
    const id = await save(ada, { server, tool: 'put', title: 'Put it' });
    const page = await rig.openPage('ida');
    await shareWith(ada, id, page);
    await open(page, id);
    await page.getByText('The server of this block is not shared with you.', { exact: false }).waitFor();
    expect(await page.getByRole('button', { name: 'Run', exact: true }).count()).toBe(0);
    await sendRest(ada, 'DELETE', `/api/mcp/servers/${server}`);
    // Another server under the same name is not the one that the block was made for.
    await createServerOverRest(ada, { type: 'streamable-http', title: 'Own shelf', url: workbench.url });
    await open(ada, id);
    await ada.getByText('The server of this block was deleted.', { exact: false }).waitFor();
    expect(await ada.getByRole('button', { name: 'Run', exact: true }).count()).toBe(0);
    await ada.getByRole('button', { name: 'Delete' }).click();
    const dialog = ada.getByRole('dialog', { name: 'Delete “Put it”?' });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await ada.getByText('“Put it” deleted').waitFor();
    await open(page, id);
    await page.getByRole('heading', { name: 'Block not found' }).waitFor();
    await page.context().close();
    await ada.context().close();
  }, 120_000);

  test('from the console to a saved block and its result without a mouse', async () => {
    const page = await rig.openPage('jon', { path: '/tools/desk/echo' });
    await field(page).fill('typed');
    await page.getByRole('button', { name: 'Save as block' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'Input Text' }).waitFor();
    expect(await field(page).inputValue()).toBe('typed');
    // From proposing it to fixing it: the next of the three.
    await page.getByRole('group', { name: 'Input Text' }).getByRole('radio', { checked: true }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('textbox', { name: 'Title' }).focus();
    await page.keyboard.type('By keys');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'By keys' }).waitFor();
    await ready(page);
    await page.getByText('typed', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).focus();
    await page.keyboard.press('Enter');
    await result(page).getByText('typed', { exact: true }).waitFor();
    await page.context().close();
  }, 120_000);
});
