import type { Page } from 'playwright-core';
import type { ShownPage } from './webPagesScene.ts';
import { askRest } from './webRest.ts';

/** A set of two steps of whoever looks. */
async function saveSet(page: Page): Promise<string> {
  const save = async (path: string, thing: object) =>
    String((await askRest(page, 'POST', path, thing))['id']);
  const read = await save('/api/mcp/blocks', { server: 'desk', tool: 'report', title: 'Read the report' });
  const say = await save('/api/mcp/blocks', { server: 'desk', tool: 'echo', title: 'Say it' });
  const text = { mode: 'from', step: 'read', pointer: '/rows/0/city' };
  return save('/api/mcp/sets', {
    ...{ title: 'Say the city', description: 'Reads the report, and says the first city' },
    steps: [
      { key: 'read', block: read },
      { key: 'say', block: say, inputs: { text } },
    ],
  });
}

async function openSet(page: Page, part = ''): Promise<void> {
  const id = await saveSet(page);
  await page.goto(new URL(`/sets/${id}${part}`, page.url()).href);
}

/** Blocks in an order. */
export const setPages: readonly ShownPage[] = [
  { name: 'sets-none', user: 'gil', path: '/sets' },
  {
    name: 'sets',
    user: 'uma',
    path: '/sets',
    prepare: async (page) => {
      await saveSet(page);
      await page.reload();
      await page.getByRole('link', { name: 'Say the city' }).first().waitFor();
    },
  },
  {
    name: 'set',
    user: 'uma',
    path: '/sets',
    prepare: async (page) => {
      await openSet(page);
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
      await openSet(page, '/edit');
      await page.getByRole('textbox', { name: 'JSON pointer for text' }).waitFor();
    },
  },
];
