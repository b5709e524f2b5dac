import type { Page } from 'playwright-core';
import type { PageCase } from './webPagesRig.ts';
import { sendRest } from './webRest.ts';

/** A set of two steps of whoever looks. */
async function createSet(page: Page): Promise<string> {
  const postResource = async (path: string, resource: object) =>
    String((await sendRest(page, 'POST', path, resource))['id']);
  const readBlock = await postResource('/api/mcp/blocks', {
    server: 'desk',
    tool: 'report',
    title: 'Read the report',
  });
  const sayBlock = await postResource('/api/mcp/blocks', { server: 'desk', tool: 'echo', title: 'Say it' });
  const text = { mode: 'from', step: 'read', pointer: '/rows/0/city' };
  return postResource('/api/mcp/sets', {
    ...{ title: 'Say the city', description: 'Reads the report, and says the first city' },
    steps: [
      { key: 'read', block: readBlock },
      { key: 'say', block: sayBlock, inputs: { text } },
    ],
  });
}

async function openNewSet(page: Page, subpage = ''): Promise<void> {
  const id = await createSet(page);
  await page.goto(new URL(`/sets/${id}${subpage}`, page.url()).href);
}

/** Blocks in an order. */
export const setPageCases: readonly PageCase[] = [
  { name: 'sets-none', user: 'gil', path: '/sets' },
  {
    name: 'sets',
    user: 'uma',
    path: '/sets',
    prepare: async (page) => {
      await createSet(page);
      await page.reload();
      await page.getByRole('link', { name: 'Say the city' }).first().waitFor();
    },
  },
  {
    name: 'set',
    user: 'uma',
    path: '/sets',
    prepare: async (page) => {
      await openNewSet(page);
      await page.getByRole('textbox', { name: 'Times' }).waitFor();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('2 of 2 steps done').first().waitFor();
    },
  },
  {
    name: 'set-edit',
    user: 'uma',
    path: '/sets',
    prepare: async (page) => {
      await openNewSet(page, '/edit');
      await page.getByRole('textbox', { name: 'JSON pointer for text' }).waitFor();
    },
  },
];
