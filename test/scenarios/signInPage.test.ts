import { describeWith } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from './chromium.ts';
import { startInProcess } from './inProcess.ts';
import { createVisitor, startOpenIdGateway, type OpenIdGateway } from './openIdGateway.ts';

const ada = { id: 'u-ada', email: 'ada@example.com', name: 'Ada', roles: ['ADMIN'] };
const bob = { id: 'u-bob', email: 'bob@example.com', name: 'Bob' };
const link = 'href="/oauth/openid"';

describe('the sign-in page, where there is an identity provider', () => {
  let gateway: OpenIdGateway;
  beforeAll(async () => {
    gateway = await startOpenIdGateway({
      users: [ada, bob],
      variables: { OPENID_REQUIRED_ROLE: 'ADMIN' },
    });
  }, 60_000);
  afterAll(() => gateway.close());
  const shown = async (path: string) => (await fetch(gateway.url + path)).text();

  test('offers it before the form of our own accounts', async () => {
    const text = await shown('/');
    expect(text.indexOf(link)).toBeGreaterThan(0);
    expect(text.indexOf(link)).toBeLessThan(text.indexOf('action="/api/auth/login"'));
    expect(text).not.toMatch(/<script|role="alert"/);
    const refused = await fetch(`${gateway.url}/api/auth/login`, {
      method: 'POST',
      body: new URLSearchParams({ email: 'nobody@example.com', password: 'wrong' }),
    });
    expect([refused.status, (await refused.text()).includes(link)]).toEqual([401, true]);
  });

  test('does not offer what is not configured', async () => {
    const bearersOnly = { OPENID_ISSUER: gateway.idp.issuer, OPENID_AUDIENCE: 'api://behalf' };
    for (const variables of [{}, bearersOnly]) {
      const other = await startInProcess(variables);
      const text = await (await fetch(other.url)).text();
      await other.close();
      expect([text.includes('action="/api/auth/login"'), text.includes('/oauth/openid')]).toEqual([
        true,
        false,
      ]);
    }
  });

  test('says what became of a sign-in that failed, with its incident', async () => {
    for (const [error, sentence] of [
      ['openid_failed', 'The sign-in at your organization failed.'],
      ['openid_unavailable', 'The identity provider of your organization does not respond.'],
      ['forbidden', 'not allowed to sign in here.'],
    ]) {
      const text = await shown(`/?error=${error}&incident=abc_DEF-123`);
      expect(text).toContain('<div class="error" role="alert">');
      expect(text).toContain(sentence);
      expect(text).toContain('<code>abc_DEF-123</code>');
    }
    const visitor = createVisitor(gateway);
    const refused = await visitor.signIn(bob.id);
    const page = await (await visitor.get(refused.headers.get('location') ?? '')).text();
    const logged = gateway.logged.findLast(({ event }) => event.startsWith('Sign-in at the identity'));
    const { incident } = logged?.fields as { incident: string };
    expect(page).toContain('not allowed to sign in here.');
    expect(page).toContain(`<code>${incident}</code>`);
  });

  test('shows nothing of what somebody else wrote into the address', async () => {
    const plain = await shown('/');
    for (const query of [
      'error=Call+555-0100',
      'error=constructor&incident=abc',
      'error=OPENID_FAILED',
      'error=openid_failed&error=forbidden',
      'incident=abc',
    ]) {
      expect(await shown(`/?${query}`)).toBe(plain);
    }
    const without = await shown('/?error=openid_failed');
    for (const incident of ['<script>alert(1)</script>', 'Call 555-0100', 'x'.repeat(65), '']) {
      const query = new URLSearchParams({ error: 'openid_failed', incident }).toString();
      expect(await shown(`/?${query}`)).toBe(without);
    }
  });

  describeWith('chromium', 'in a real browser', () => {
    let browser: Browser;
    let page: Page;
    beforeAll(async () => {
      browser = await launchChromium();
      page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    }, 60_000);
    afterAll(() => browser.close());

    test('with the keyboard alone and no script, a person signs in at their organisation', async () => {
      // Under the name that the provider sends people back to: cookies know hosts.
      const home = gateway.url.replace('127.0.0.1', 'localhost');
      await page.goto(`${home}/tools/files?open=1`);
      await page.waitForSelector('a:focus');
      expect(await page.textContent('a:focus')).toContain('Sign in with your organization');
      const order: string[] = [];
      for (let i = 0; i < 3; i += 1) {
        await page.keyboard.press('Tab');
        order.push((await page.textContent(':focus')) || (await page.getAttribute(':focus', 'id')) || '');
      }
      expect(order).toEqual(['email', 'password', 'Sign in']);
      for (let i = 0; i < 3; i += 1) await page.keyboard.press('Shift+Tab');

      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.origin === gateway.idp.issuer);
      await page.click('text=Bob');
      await page.waitForSelector('[role=alert]');
      expect(new URL(page.url()).origin).toBe(home);
      expect(await page.textContent('[role=alert]')).toContain('not allowed to sign in here.');

      await page.context().clearCookies();
      await page.goto(`${home}/tools/files?open=1`);
      await page.click('text=Sign in with your organization');
      await page.click('text=Ada');
      await page.waitForURL(`${home}/tools/files?open=1`);
      expect(await page.locator('#root').count()).toBe(1);
      await page.context().clearCookies();
      await page.goto(home);
      expect(await page.textContent('h1')).toBe('Sign in');
    }, 60_000);
  });
});
