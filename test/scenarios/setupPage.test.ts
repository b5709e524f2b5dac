import { describeWith } from '@behalf/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { adaAccount } from './browser.ts';
import { launchChromium } from './chromium.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

describeWith('chromium', 'the setup page in a real browser', () => {
  let browser: Browser;
  let gateway: InProcessGateway;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium();
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

  test('with the keyboard alone and no script, a person becomes the administrator and signs in again', async () => {
    await page.goto(gateway.setupLink);
    // The page gives the first field the focus after it has loaded; a key pressed before that goes nowhere.
    await page.waitForSelector('input:focus');
    await page.keyboard.type(adaAccount.name);
    await page.keyboard.press('Tab');
    await page.keyboard.type(adaAccount.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(adaAccount.password);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === '/');
    expect(await page.locator('#root').count()).toBe(1);
    await page.context().clearCookies();
    await page.goto(`${gateway.url.replace('127.0.0.1', 'localhost')}/servers/everything`);
    expect(await page.textContent('h1')).toBe('Sign in');
    await page.fill('#email', adaAccount.email);
    await page.fill('#password', 'not this one');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert]');
    expect(await page.textContent('[role=alert]')).toContain('Email or password is wrong');
    expect(await page.inputValue('#email')).toBe(adaAccount.email);
    await page.fill('#password', adaAccount.password);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === '/servers/everything');
    expect(await page.locator('#root').count()).toBe(1);
    await page.goto(gateway.setupLink);
    expect(await page.textContent('h1')).toBe('This setup link is no longer valid');
  }, 60_000);
});
