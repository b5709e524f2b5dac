import { adaAccount } from './browser.ts';
import { sendRest } from './webRest.ts';
import type { PageCase } from './webPagesRig.ts';

/** The pages that the gateway makes by itself, without the interface. */
export const gatewayPageCases: readonly PageCase[] = [
  { name: 'setup', user: 'nobody', path: ({ emptyGateway }) => emptyGateway.setupLink },
  { name: 'setup-closed', user: 'nobody', path: ({ configuredGateway }) => configuredGateway.setupLink },
  { name: 'sign-in', user: 'nobody', path: '/servers/desk' },
  { name: 'sign-in-failed', user: 'nobody', path: '/?error=openid_failed&incident=abc_DEF-123' },
  {
    name: 'sign-in-refused',
    user: 'nobody',
    path: ({ configuredGateway }) => configuredGateway.url,
    prepare: async (page) => {
      await page.getByLabel('Email').fill(adaAccount.email);
      await page.getByLabel('Password').fill('not this one');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'connect',
    user: 'ada',
    path: '/servers',
    prepare: async (page) => {
      const { connectUrl } = await sendRest(page, 'POST', '/api/mcp/notes/oauth/start', {});
      // A browser that did not begin it is asked.
      await page.context().clearCookies({ name: /^bf-/ });
      await page.goto(String(connectUrl));
      await page.getByRole('heading', { name: 'Connect The notes?' }).waitFor();
    },
  },
  {
    name: 'connect-refused',
    user: 'ada',
    path: '/api/mcp/notes/oauth/initiate?flowId=of-nobody',
  },
  { name: 'connected', user: 'ada', path: '/oauth/success?returnTo=/servers/notes' },
  { name: 'not-connected', user: 'ada', path: '/oauth/error?error=access_denied&returnTo=/servers/notes' },
];
