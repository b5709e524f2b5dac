import type { Page } from 'playwright-core';
import { connectOverRest } from './webConnectRig.ts';
import { openDialog, type PageCase } from './webPagesRig.ts';
import { sendRest } from './webRest.ts';

/** A block of whoever looks, opened. */
async function openNewBlock(page: Page, block: object, subpage = ''): Promise<void> {
  const { id } = await sendRest(page, 'POST', '/api/mcp/blocks', block);
  await page.goto(new URL(`/blocks/${String(id)}${subpage}`, page.url()).href);
}

/** Says what becomes of one input. */
async function setInputMode(page: Page, input: string, mode: string): Promise<void> {
  await page
    .getByRole('group', { name: `Input ${input}` })
    .getByRole('radio', { name: mode })
    .check();
}

const loudBlock = {
  ...{ server: 'desk', tool: 'echo', title: 'Say it loudly', description: 'For meetings in large rooms' },
  inputs: { tone: { mode: 'fixed', value: 'loud' }, times: { mode: 'default', value: 2 } },
};
const noteBlock = { server: 'notes', tool: 'note', title: 'Keep a thought' };
const orderBlock = { server: 'weather', tool: 'order', title: 'Order for the office' };

/** Tools that were saved with their inputs: the list, the form in which one is made, and its page. */
export const blockPageCases: readonly PageCase[] = [
  { name: 'blocks-none', user: 'gil', path: '/blocks' },
  {
    name: 'blocks',
    user: 'uma',
    path: '/blocks',
    prepare: async (page) => {
      await sendRest(page, 'POST', '/api/mcp/blocks', loudBlock);
      await sendRest(page, 'POST', '/api/mcp/blocks', noteBlock);
      await page.reload();
      await page.getByText('Ready', { exact: true }).nth(1).waitFor();
    },
  },
  {
    name: 'block',
    user: 'uma',
    path: '/blocks',
    prepare: async (page) => {
      await openNewBlock(page, loudBlock);
      await page.getByRole('textbox', { name: 'Text' }).fill('hello');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('HELLO HELLO', { exact: true }).waitFor();
    },
  },
  {
    name: 'block-credentials',
    user: 'uma',
    path: '/blocks',
    prepare: async (page) => {
      await openNewBlock(page, noteBlock);
      await page.getByRole('radio', { name: 'Your sign-in' }).waitFor();
    },
  },
  {
    name: 'block-needs',
    user: 'gil',
    path: '/blocks',
    prepare: async (page) => {
      await connectOverRest(page, 'notes');
      const { id } = await sendRest(page, 'POST', '/api/mcp/blocks', noteBlock);
      await sendRest(page, 'DELETE', '/api/mcp/notes/credentials/default');
      await page.goto(new URL(`/blocks/${String(id)}`, page.url()).href);
      await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    },
  },
  {
    name: 'block-values',
    user: 'gil',
    path: '/blocks',
    prepare: async (page) => {
      const saveValues = (action: string, auth: object) =>
        sendRest(page, 'POST', '/api/user/plugins', { pluginKey: 'mcp_ledger', action, auth });
      await saveValues('install', { ACCOUNT: '1', KEY: '2' });
      const { id } = await sendRest(page, 'POST', '/api/mcp/blocks', { ...orderBlock, server: 'ledger' });
      await saveValues('uninstall', {});
      await page.goto(new URL(`/blocks/${String(id)}`, page.url()).href);
      await page.getByRole('button', { name: 'Save values' }).click();
      await page.getByText('Enter a value.').first().waitFor();
    },
  },
  {
    name: 'block-share',
    user: 'ada',
    path: '/blocks',
    prepare: async (page) => {
      await openNewBlock(page, loudBlock);
      await openDialog(page, 'Share');
      await page.getByRole('combobox', { name: 'Share with' }).waitFor();
    },
  },
  {
    name: 'block-delete',
    user: 'ada',
    path: '/blocks',
    prepare: async (page) => {
      await openNewBlock(page, loudBlock);
      // Those of conversations say of which.
      await openDialog(page, /^Delete$/);
    },
  },
  {
    name: 'block-new',
    user: 'ada',
    path: '/blocks/new',
    prepare: async (page) => {
      await page.getByLabel('Server').selectOption('desk');
      await page.getByLabel('Tool').selectOption('echo');
      await setInputMode(page, 'Tone', 'Fixed');
      await page.getByRole('button', { name: 'Save block' }).click();
      await page.getByText('Enter a value.').waitFor();
    },
  },
  {
    name: 'block-edit',
    user: 'ada',
    path: '/blocks',
    prepare: async (page) => {
      await openNewBlock(page, orderBlock, '/edit');
      await setInputMode(page, 'Parts', 'Default');
    },
  },
  { name: 'block-unknown', user: 'ada', path: '/blocks/nothing-here' },
];
