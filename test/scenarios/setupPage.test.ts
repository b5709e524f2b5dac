import { describeWith, findProgram, verifies } from '@behalf/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { chromium, type Browser, type Page } from 'playwright-core';
import { ada } from './browser.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

describeWith('chromium', 'the setup page in a real browser', () => {
  let browser: Browser;
  let gateway: InProcessGateway;
  let page: Page;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: findProgram('chromium') ?? '',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
  }, 60_000);
  afterAll(() => browser.close());
  beforeEach(async () => {
    gateway = await startInProcess();
    page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  });
  afterEach(async () => {
    await page.context().close();
    await gateway.close();
  });

  /** `BEHALF_TEST_SCREENSHOTS` names a directory for a person to look into. */
  const look = async (name: string) => {
    const dir = process.env['BEHALF_TEST_SCREENSHOTS'];
    if (dir) await page.screenshot({ path: `${dir}/${name}.png` });
  };

  verifies(
    'pages.setup',
    'with the keyboard alone and no script, a person becomes the administrator and signs in again',
    async () => {
      await page.goto(gateway.setupLink);
      await look('setup');
      // The page gives the first field the focus after it has loaded; a key pressed before that goes nowhere.
      await page.waitForSelector('input:focus');
      await page.keyboard.type(ada.name);
      await page.keyboard.press('Tab');
      await page.keyboard.type(ada.email);
      await page.keyboard.press('Tab');
      await page.keyboard.type(ada.password);
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname === '/');
      expect(await page.textContent('h1')).toBe('Welcome, Ada');
      expect(await page.textContent('.servers')).toContain('everything');
      await look('home');
      await page.click('text=Sign out');
      expect(await page.textContent('h1')).toBe('Sign in');
      await page.fill('#email', ada.email);
      await page.fill('#password', 'not this one');
      await page.keyboard.press('Enter');
      await page.waitForSelector('[role=alert]');
      expect(await page.textContent('[role=alert]')).toContain('Email or password is wrong');
      expect(await page.inputValue('#email')).toBe(ada.email);
      await look('sign-in-refused');
      await page.fill('#password', ada.password);
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.pathname === '/');
      expect(await page.textContent('h1')).toBe('Welcome, Ada');
      await page.goto(gateway.setupLink);
      expect(await page.textContent('h1')).toBe('This setup link is closed');
      await look('link-closed');
    },
    60_000,
  );
});
