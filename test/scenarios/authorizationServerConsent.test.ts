import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { adaAccount, createAdministrator } from './browser.ts';
import { launchChromium } from './chromium.ts';
import { createAuthorizationClient, type AuthorizationClientRig } from './authorizationServerRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

describe('the consent page in a browser', () => {
  let gateway: InProcessGateway;
  let authorizationClient: AuthorizationClientRig;
  let chromium: Browser;
  /** A client on this machine, and an attacker's page beside it: the same site for a browser, which sends its cookies. */
  let peer: Server;
  let origin: string;
  let framed = '';
  let context: BrowserContext;

  beforeAll(async () => {
    gateway = await startInProcess({}, JSON.stringify({ authorizationServer: { enabled: true } }));
    await createAdministrator(gateway);
    authorizationClient = await createAuthorizationClient(gateway.url);
    peer = createServer((req, res) => {
      res.setHeader('content-type', 'text/html');
      const isFrame = req.url?.startsWith('/frame') === true;
      res.end(isFrame ? `<h1>Free gifts</h1><iframe src="${framed}"></iframe>` : '<h1>Connected</h1>');
    });
    await new Promise<void>((resolve) => peer.listen(0, resolve));
    origin = `http://localhost:${(peer.address() as AddressInfo).port}`;
    chromium = await launchChromium();
  }, 60_000);
  afterAll(async () => {
    await chromium.close();
    peer.closeAllConnections();
    await new Promise((resolve) => peer.close(resolve));
    await gateway.close();
  });
  afterEach(() => context.close());

  async function begin(): Promise<{ page: Page; address: string; clientId: string; verifier: string }> {
    context = await chromium.newContext();
    const page = await context.newPage();
    const redirectUri = `${origin}/callback`;
    const clientId = await authorizationClient.register({
      client_name: 'Local notes',
      redirect_uris: [redirectUri],
    });
    const { path, verifier } = authorizationClient.createAuthorizationRequest(clientId, {
      redirect_uri: redirectUri,
    });
    return { page, address: authorizationClient.base + path, clientId, verifier };
  }

  async function signIn(page: Page): Promise<void> {
    await page.getByLabel('Email').fill(adaAccount.email);
    await page.getByLabel('Password').fill(adaAccount.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  }

  test('leads from the client through the sign-in back to it', async () => {
    const { page, address, clientId, verifier } = await begin();
    await page.goto(address);
    await signIn(page);
    await page.getByRole('heading', { name: 'Connect Local notes?' }).waitFor();
    await page.getByText('This is a program on your own computer.').waitFor();
    await page.getByText('Ada', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    // A policy that forgot where the form leads would stop the browser here.
    await page.getByRole('heading', { name: 'Connected' }).waitFor();
    const back = new URL(page.url());
    const code = back.searchParams.get('code') ?? '';
    const answer = await authorizationClient.redeemCode(clientId, code, verifier, {
      redirect_uri: `${origin}/callback`,
    });
    expect(answer.status).toBe(200);
  });

  test('is shown in nobody’s frame', async () => {
    const { page, address } = await begin();
    await page.goto(`${authorizationClient.base}/`);
    await signIn(page);
    await page.waitForURL(/\/chat/);
    framed = address;
    const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
    await page.goto(`${origin}/frame`);
    expect((await refused).text()).toContain("frame-ancestors 'none'");
    expect(await page.frameLocator('iframe').getByRole('button', { name: 'Allow' }).count()).toBe(0);
    // The same address in a window of its own is the page.
    await page.goto(address);
    await page.getByRole('button', { name: 'Allow' }).waitFor();
  });
});
