import { openDialog, type PageCase } from './webPagesRig.ts';

/** What belongs to one person, and what administrators look after. */
export const adminPageCases: readonly PageCase[] = [
  { name: 'settings', user: 'ada', path: '/settings' },
  {
    name: 'settings-new-key',
    user: 'ada',
    path: '/settings',
    prepare: async (page) => {
      await openDialog(page, 'Create key');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Create key' }).click();
      await dialog.getByText('Enter a name.').waitFor();
    },
  },
  {
    name: 'settings-key',
    user: 'ada',
    path: '/settings',
    prepare: async (page) => {
      await openDialog(page, 'Create key');
      await page.getByRole('textbox', { name: 'Name' }).fill('A program');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Key A program' }).waitFor();
    },
  },
  { name: 'admin', user: 'ada', path: '/admin' },
  { name: 'admin-day', user: 'ada', path: '/admin?range=day' },
  { name: 'admin-empty', user: 'ari', path: '/admin' },
  { name: 'admin-roles', user: 'ada', path: '/admin/roles' },
  {
    name: 'admin-role-new',
    user: 'ada',
    path: '/admin/roles',
    prepare: async (page) => {
      await openDialog(page, 'Create role');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Create role' }).click();
      await dialog.getByText('Enter a name.').waitFor();
    },
  },
  { name: 'admin-users', user: 'ada', path: '/admin/users' },
  {
    name: 'admin-user',
    user: 'ada',
    path: '/admin/users',
    prepare: async (page) => {
      await openDialog(page, 'Details and sessions of Uma User');
      await page.getByRole('button', { name: 'End all' }).waitFor();
    },
  },
  { name: 'admin-audit', user: 'ada', path: '/admin/audit' },
  {
    name: 'admin-audit-event',
    user: 'ada',
    path: '/admin/audit?action=session.start',
    prepare: async (page) => {
      await page.getByRole('main').getByRole('button', { name: 'Signed in' }).first().click();
      await page.getByRole('dialog', { name: 'Signed in' }).waitFor();
    },
  },
  { name: 'admin-audit-none', user: 'ada', path: '/admin/audit?server=none-of-ours' },
  { name: 'admin-connections', user: 'ada', path: '/admin/connections' },
  { name: 'admin-config', user: 'ada', path: '/admin/config' },
  { name: 'admin-refused', user: 'uma', path: '/admin' },
];
