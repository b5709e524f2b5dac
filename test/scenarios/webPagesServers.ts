import type { Locator, Page } from 'playwright-core';
import { openDialog, type PageCase, type WebPagesRig } from './webPagesRig.ts';
import { sendRest, createServerOverRest } from './webRest.ts';

/** An address that nobody may use. */
const FORBIDDEN_URL = 'http://169.254.169.254/latest';

/** The dialog in which everything about a new server is entered. */
async function openManualForm(page: Page): Promise<Locator> {
  await openDialog(page, 'Add server');
  await page.getByRole('button', { name: 'Set up manually' }).click();
  const dialog = page.getByRole('dialog', { name: 'New server' });
  await dialog.getByRole('textbox', { name: 'Title' }).waitFor();
  return dialog;
}

/** The dialog in which one is found, after it was asked at this address. */
async function probeUrl(page: Page, url: string, outcome: string): Promise<Locator> {
  await openDialog(page, 'Add server');
  const dialog = page.getByRole('dialog', { name: 'Add an MCP server' });
  await dialog.getByRole('textbox', { name: /^URL/ }).fill(url);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByText(outcome).waitFor();
  return dialog;
}

/** The dialog of a new server with this kind of authentication, at an address that may be used. */
async function fillServerForm(
  page: Page,
  { emptyServer }: WebPagesRig,
  authentication: string,
): Promise<Locator> {
  const dialog = await openManualForm(page);
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Another one');
  await dialog.getByRole('textbox', { name: /^URL/ }).fill(emptyServer.url);
  await dialog.getByRole('combobox', { name: 'Authentication' }).selectOption(authentication);
  return dialog;
}

/** Sends it before it is right. */
async function expectRefusal(dialog: Locator, button: 'Add' | 'Test'): Promise<void> {
  await dialog.getByRole('button', { name: button, exact: true }).click();
  await dialog.getByText('Fix the highlighted fields').waitFor();
}

async function reinitialize(page: Page, outcome: string): Promise<void> {
  await page.getByRole('button', { name: 'Reconnect' }).click();
  await page.getByText(outcome, { exact: true }).waitFor();
}

/** Servers in all their states, and the dialogs about them. */
export const serverPageCases: readonly PageCase[] = [
  { name: 'server', user: 'ada', path: '/servers/desk' },
  { name: 'server-obo', user: 'ada', path: '/servers/mail' },
  { name: 'server-own', user: 'ada', path: '/servers/weather' },
  {
    name: 'server-link-foreign',
    user: 'uma',
    path: '/servers/notes?for=somebody-else',
    prepare: (page) => page.getByRole('heading', { name: 'This link is for another user' }).waitFor(),
  },
  { name: 'server-unknown', user: 'ada', path: '/servers/nothing-here' },
  {
    name: 'server-reinitialized',
    user: 'ada',
    path: '/servers/desk',
    prepare: (page) => reinitialize(page, 'Reconnected'),
  },
  {
    name: 'server-diagnosis',
    user: 'ada',
    path: '/servers/notes',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Diagnose', exact: true }).click();
      await page.getByText('Failed at: Your sign-in or key').waitFor();
      await page.getByText('steps skipped').click();
      await page.getByRole('heading', { name: 'Diagnosis' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'server-unreachable',
    user: 'ada',
    path: '/servers',
    prepare: async (page, { emptyServer, webRig }) => {
      const config = { type: 'streamable-http', title: 'The cellar', url: emptyServer.url };
      const name = await createServerOverRest(page, config);
      emptyServer.change({ respond: () => 'reset' });
      await page.goto(`${webRig.origin}/servers/${name}`);
      await page.getByText('Unreachable', { exact: true }).waitFor();
      await reinitialize(page, 'Still unreachable');
      emptyServer.change({ respond: () => undefined });
    },
  },
  {
    name: 'server-left-alone',
    user: 'ada',
    path: '/servers/attic',
    prepare: async (page) => {
      for (let failures = 0; failures < 3; failures += 1) {
        await sendRest(page, 'POST', '/api/mcp/attic/reinitialize', {});
      }
      await page.reload();
      await page.getByText('Paused after errors', { exact: true }).waitFor();
    },
  },
  {
    name: 'server-values',
    user: 'uma',
    path: '/servers/ledger',
    prepare: async (page) => {
      await page.getByText('Needs setup', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Save values' }).click();
      await page.getByText('Enter a value first.').waitFor();
    },
  },
  {
    name: 'server-values-refused',
    user: 'uma',
    path: '/servers/ledger',
    prepare: async (page) => {
      await page.getByRole('textbox', { name: 'Account' }).fill('1'.repeat(16_385));
      await page.getByRole('button', { name: 'Save values' }).click();
      await page.locator('[aria-invalid=true]').waitFor();
    },
  },
  {
    name: 'server-sign-in',
    user: 'ada',
    path: '/servers/notes',
    prepare: async (page) => {
      await page.getByText('Use an access token instead').click();
      await page.getByText('Expiry and renewal').click();
      await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
    },
  },
  {
    name: 'server-signed-in',
    user: 'uma',
    path: '/servers/notes',
    prepare: async (page) => {
      await page.getByText('Details', { exact: true }).click();
      await page.getByText('Issuer', { exact: true }).first().waitFor();
    },
  },
  {
    name: 'server-disconnect',
    user: 'uma',
    path: '/servers/notes',
    prepare: (page) => openDialog(page, 'Disconnect'),
  },
  {
    name: 'server-find',
    user: 'ada',
    path: '/servers',
    prepare: async (page) => void (await probeUrl(page, FORBIDDEN_URL, 'is not allowed')),
  },
  {
    name: 'server-find-tools',
    user: 'ada',
    path: '/servers',
    prepare: async (page, { weatherServer }) => void (await probeUrl(page, weatherServer.url, 'Connected:')),
  },
  {
    name: 'server-find-sign-in',
    user: 'ada',
    path: '/servers',
    prepare: async (page, { lockedServer }) =>
      void (await probeUrl(page, lockedServer.url, 'Sign in to continue')),
  },
  {
    name: 'server-new',
    user: 'ada',
    path: '/servers',
    prepare: async (page) => void (await openManualForm(page)),
  },
  {
    name: 'server-new-key',
    user: 'ada',
    path: '/servers',
    prepare: async (page, rig) => {
      const dialog = await fillServerForm(page, rig, 'apiKey');
      await dialog.getByRole('combobox', { name: 'Sent as' }).selectOption('custom');
      await dialog.getByRole('button', { name: 'Add header' }).click();
      await expectRefusal(dialog, 'Add');
    },
  },
  {
    name: 'server-new-oauth',
    user: 'ada',
    path: '/servers',
    prepare: async (page, rig) => {
      const dialog = await fillServerForm(page, rig, 'oauth');
      await dialog.getByRole('textbox', { name: 'Client secret' }).fill('a secret without a client');
      await dialog.getByRole('textbox', { name: 'Token URL' }).fill(FORBIDDEN_URL);
      await expectRefusal(dialog, 'Test');
    },
  },
  {
    name: 'server-new-obo',
    user: 'ada',
    path: '/servers',
    prepare: async (page, rig) => expectRefusal(await fillServerForm(page, rig, 'obo'), 'Add'),
  },
  { name: 'server-edit', user: 'ada', path: '/servers/weather', prepare: (page) => openDialog(page, 'Edit') },
  {
    name: 'server-edit-locked',
    user: 'gil',
    path: '/servers/letters',
    prepare: (page) => openDialog(page, 'Edit'),
  },
  {
    name: 'server-share',
    user: 'ada',
    path: '/servers/weather',
    prepare: (page) => openDialog(page, 'Share'),
  },
  {
    name: 'server-delete',
    user: 'ada',
    path: '/servers/weather',
    prepare: (page) => openDialog(page, /^Delete$/),
  },
  { name: 'servers', user: 'ada', path: '/servers' },
  { name: 'servers-user', user: 'uma', path: '/servers' },
];
