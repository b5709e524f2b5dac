import { describeWith, eventually } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { decideConsent, openPopup, startConnectRig, type ConnectRig } from './webConnectRig.ts';
import { sendRest } from './webRest.ts';

describeWith('chromium', 'sets in the interface', () => {
  let rig: ConnectRig;
  beforeAll(async () => {
    rig = await startConnectRig();
  }, 120_000);
  afterAll(() => rig?.close());

  const save = async (page: Page, path: string, thing: object) =>
    String((await sendRest(page, 'POST', path, thing))['id']);
  const run = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click();
  const shown = (page: Page) => page.getByRole('region', { name: 'Current run' });

  test('two blocks in an order: the second says what stood in the result of the first', async () => {
    const page = await rig.openPage('bea');
    await save(page, '/api/mcp/blocks', { server: 'desk', tool: 'report', title: 'Read the report' });
    await save(page, '/api/mcp/blocks', { server: 'desk', tool: 'echo', title: 'Say it' });
    await page.goto(`${rig.origin}/sets`);
    await page.getByRole('link', { name: 'New set' }).first().click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Say the <b>city</b>');
    const step = (number: number) => page.getByRole('listitem', { name: `Step ${number}` });
    await step(1)
      .getByRole('combobox', { name: 'Block' })
      .selectOption({ label: 'Read the report (report on Front desk)' });
    await page.getByRole('button', { name: 'Add step' }).click();
    await page.getByRole('button', { name: 'Save set' }).click();
    await step(2).getByText('Choose a block.', { exact: true }).waitFor();
    await step(2)
      .getByRole('combobox', { name: 'Block' })
      .selectOption({ label: 'Say it (echo on Front desk)' });
    const source = step(2).getByRole('combobox', { name: 'Source of text' });
    await source.selectOption({ label: 'From step 1: Read the report' });
    await step(2).getByRole('textbox', { name: 'JSON pointer for text' }).fill('/rows/0/city');
    await page.getByRole('button', { name: 'Save set' }).click();
    await page.getByRole('heading', { name: 'Say the <b>city</b>' }).waitFor();
    // What an earlier step brings is not asked for.
    await page.getByRole('textbox', { name: 'Times' }).fill('2');
    expect(await page.getByRole('textbox', { name: 'Text', exact: true }).count()).toBe(0);
    await run(page);
    await shown(page).getByText('2 of 2 steps done').first().waitFor();
    await shown(page).getByText('Oslo Oslo', { exact: true }).waitFor();
    await page.reload();
    await shown(page).getByText('Oslo Oslo', { exact: true }).waitFor();
    await page.context().close();
  }, 120_000);

  test('what a set and its blocks bring is read before it runs, and nothing else is run', async () => {
    const page = await rig.openPage('fay');
    const value = (is: unknown) => ({ mode: 'fixed', value: is });
    const first = await save(page, '/api/mcp/blocks', { server: 'desk', tool: 'report', title: 'Read' });
    const said = { server: 'desk', tool: 'echo', title: 'Say' };
    const twice = await save(page, '/api/mcp/blocks', { ...said, inputs: { times: value(2) } });
    const text = { mode: 'from', step: 'a', pointer: '/rows/0/city' };
    const id = await save(page, '/api/mcp/sets', {
      title: 'Brings all of it',
      steps: [
        { key: 'a', block: first },
        { key: 'b', block: twice, inputs: { text } },
        { key: 'c', block: twice, inputs: { text: value('by the set') } },
      ],
    });
    await page.goto(`${rig.origin}/sets/${id}`);
    const step = (name: string) => page.getByRole('region', { name, exact: true });
    const read = (name: string) => step(name).innerText();
    await step('3. Say').getByText('by the set', { exact: true }).waitFor();
    await step('2. Say').getByText('text ← step 1, /rows/0/city', { exact: true }).waitFor();
    expect(await read('2. Say')).toMatch(/Front desk[^]*Fixed inputs[^]*times[^]*2/);
    expect(await read('2. Say')).not.toContain('Fixed by the set');
    expect(await read('3. Say')).toMatch(/Front desk[^]*Fixed by the set[^]*Fixed inputs/);
    const other = { inputs: { times: value(3) } };
    // As late as can be: after the page has read it for the last time.
    await page.route(
      '**/run',
      async (route) => {
        await sendRest(page, 'PATCH', `/api/mcp/blocks/${twice}`, other);
        await route.continue();
      },
      { times: 1 },
    );
    await run(page);
    await page.getByText('The set or one of its blocks changed after you opened it').waitFor();
    expect(await shown(page).count()).toBe(0);
    await eventually('what it is now is shown', async () => /times[^]*3/.test(await read('2. Say')));
    await run(page);
    await shown(page).getByText('Oslo Oslo Oslo', { exact: true }).waitFor();
    await page.context().close();
  }, 120_000);

  test('a deleted set disappears from the list, and the page does not request it again', async () => {
    const page = await rig.openPage('fay');
    const block = await save(page, '/api/mcp/blocks', { server: 'desk', tool: 'report', title: 'Read once' });
    const id = await save(page, '/api/mcp/sets', {
      title: 'Not for long',
      steps: [{ key: 'a', block, inputs: {} }],
    });
    await page.goto(`${rig.origin}/sets/${id}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete “Not for long”?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete' }).click();
    const missing: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 404) missing.push(response.url());
    });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('“Not for long” deleted').waitFor();
    expect(page.url()).toBe(`${rig.origin}/sets`);
    await page.getByRole('link', { name: 'New set' }).first().waitFor();
    expect(await page.getByRole('link', { name: 'Not for long' }).count()).toBe(0);
    expect(missing).toEqual([]);
    await page.context().close();
  }, 120_000);

  test('one that takes long is cancelled, and found among the runs later', async () => {
    const page = await rig.openPage('cem');
    const block = await save(page, '/api/mcp/blocks', { server: 'desk', tool: 'slow', title: 'Slowly' });
    const steps = [{ key: 'a', block }];
    const id = await save(page, '/api/mcp/sets', { title: 'Takes long', steps });
    await page.goto(`${rig.origin}/sets/${id}`);
    const before = rig.desk.counts.cancelled;
    await run(page);
    await eventually('the tool runs', () => rig.desk.counts.slow > 0);
    await shown(page).getByRole('button', { name: 'Cancel run' }).click();
    await shown(page).getByText('Canceled', { exact: true }).waitFor();
    await eventually('the tool heard of it', () => rig.desk.counts.cancelled > before);
    await page.goto(`${rig.origin}/sets/${id}`);
    await page.getByRole('button', { name: /^Run of / }).click();
    await shown(page).getByText('Canceled', { exact: true }).waitFor();
    await page.context().close();
  }, 120_000);

  test('one whose sign-in is needed first asks for it, and one that waits for it goes on after it', async () => {
    const page = await rig.openPage('dov', { path: '/servers/notes' });
    const connect = () =>
      openPopup(page, () =>
        page
          .getByRole('button', { name: /^Connect/ })
          .first()
          .click(),
      );
    await decideConsent(await connect(), 'Allow');
    await page.getByText('The server accepted your sign-in.').waitFor();
    const block = await save(page, '/api/mcp/blocks', { server: 'notes', tool: 'note', title: 'Keep' });
    const inputs = { text: { mode: 'fixed', value: 'in a set' } };
    const id = await save(page, '/api/mcp/sets', {
      title: 'Keep it',
      steps: [{ key: 'a', block, inputs }],
    });
    for (const { token } of rig.notes.guardedRequests) if (token) rig.authorization.endFamily(token.familyId);
    await page.goto(`${rig.origin}/sets/${id}`);
    await run(page);
    await shown(page).getByText('Your sign-in is no longer accepted.', { exact: false }).waitFor();
    const opened = await openPopup(page, () =>
      shown(page).getByRole('button', { name: 'Connect', exact: true }).click(),
    );
    await decideConsent(opened, 'Allow');
    await shown(page).getByText('kept: in a set', { exact: true }).waitFor();
    await page.context().close();
  }, 120_000);
});
