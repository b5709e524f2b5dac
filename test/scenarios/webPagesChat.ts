import type { Page } from 'playwright-core';
import { openDialog, type PageCase } from './webPagesRig.ts';

async function sendChatMessage(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
}

const clickRun = (page: Page) => page.getByRole('button', { name: 'Run', exact: true }).click();

/** The chat, the tools by hand, and what can come over every page. */
export const chatPageCases: readonly PageCase[] = [
  { name: 'chat-start', user: 'uma', path: '/chat' },
  {
    name: 'chat',
    user: 'ada',
    path: '/chat',
    prepare: async (page) => {
      await sendChatMessage(page, 'Who am I, and how warm is it?');
      await page.getByText('You are Ada Admin', { exact: false }).first().waitFor();
      await page.getByText('That is all.', { exact: false }).first().waitFor();
    },
  },
  {
    name: 'chat-approval',
    user: 'ada',
    path: '/chat',
    prepare: async (page) => {
      await sendChatMessage(page, 'Wipe the attic');
      await page.getByRole('button', { name: 'Approve' }).waitFor();
    },
  },
  {
    name: 'chat-held',
    user: 'ada',
    path: '/chat',
    prepare: async (page) => {
      await sendChatMessage(page, 'Keep a note');
      await page.getByRole('button', { name: 'Continue without signing in' }).waitFor();
    },
  },
  {
    name: 'chat-servers',
    user: 'uma',
    path: '/chat',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'All servers' }).click();
      const dialog = page.getByRole('dialog', { name: 'Tools for the model' });
      await dialog.getByRole('checkbox', { name: 'Front desk' }).uncheck();
    },
  },
  {
    name: 'chat-delete',
    user: 'ada',
    path: '/chat',
    prepare: async (page) => {
      await sendChatMessage(page, 'Who am I, and how warm is it?');
      await page.getByText('That is all.', { exact: false }).first().waitFor();
      const link = page.getByRole('navigation').getByRole('link', { name: 'Who am I' }).first();
      await link.hover();
      await openDialog(page, /^Delete Who am I/);
    },
  },
  { name: 'chat-unknown', user: 'ada', path: '/chat/nothing-here' },
  { name: 'console-first', user: 'ari', path: '/chat' },
  {
    name: 'console-model',
    user: 'ari',
    path: '/chat',
    prepare: async (page) => {
      await page.getByText('How to add a model').click();
      await page.getByRole('group', { name: 'Model configuration' }).waitFor();
    },
  },
  { name: 'tools', user: 'ada', path: '/tools' },
  {
    name: 'tool',
    user: 'ada',
    path: '/tools/desk/echo',
    prepare: async (page) => {
      await page.getByRole('textbox', { name: 'Text' }).fill('hello');
      await clickRun(page);
      await page.getByText('hello', { exact: true }).last().waitFor();
    },
  },
  {
    name: 'tool-report',
    user: 'ada',
    path: '/tools/desk/report',
    prepare: async (page) => {
      await clickRun(page);
      await page.getByText('Oslo').first().waitFor();
    },
  },
  {
    name: 'tool-form',
    user: 'ada',
    path: '/tools/weather/order',
    prepare: async (page) => {
      await page.getByRole('textbox', { name: 'Code' }).fill('abc');
      await page.getByRole('button', { name: 'Add Place' }).click();
      await page.getByRole('textbox', { name: 'Floor' }).fill('high up');
      await page.getByRole('button', { name: 'Add Parts' }).click();
      await page.getByRole('button', { name: 'Add Part', exact: true }).click();
      await page.getByRole('textbox', { name: 'Name' }).waitFor();
      await clickRun(page);
      await page.getByText('Enter a value.').first().waitFor();
    },
  },
  {
    name: 'tool-approval',
    user: 'ada',
    path: '/tools/desk/wipe',
    prepare: async (page) => {
      await page.getByRole('textbox', { name: 'place' }).fill('the cellar');
      await clickRun(page);
      await page.getByRole('button', { name: 'Approve' }).waitFor();
    },
  },
  {
    name: 'tool-held',
    user: 'ada',
    path: '/tools/diary/note',
    prepare: async (page) => {
      await page.getByRole('textbox', { name: 'Text' }).fill('hello');
      await clickRun(page);
      await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    },
  },
  {
    name: 'signed-out',
    user: 'uma',
    path: '/tools/desk/report',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
      await page.context().clearCookies();
      await clickRun(page);
      await page.getByRole('dialog', { name: 'You are signed out' }).waitFor();
    },
  },
  {
    name: 'offline',
    user: 'uma',
    path: '/tools/desk/report',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
      await page.context().setOffline(true);
      await clickRun(page);
      await page.getByText('Can’t reach the gateway. Retrying…').waitFor();
    },
  },
  { name: 'not-found', user: 'ada', path: '/admin/nothing-here' },
  {
    name: 'drawer',
    user: 'ada',
    path: '/servers',
    isNarrow: true,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Open menu' }).click();
      await page.getByRole('link', { name: 'Administration' }).waitFor();
    },
  },
];
