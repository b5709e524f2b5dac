import { describeWith } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { adaAccount } from './browser.ts';
import { launchChromium } from './chromium.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { UI_TIMEOUT_MS } from './webRig.ts';

describeWith('chromium', 'the first run', () => {
  let browser: Browser;
  let gateway: InProcessGateway;
  beforeAll(async () => {
    gateway = await startInProcess();
    browser = await launchChromium();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await gateway?.close();
  });

  test('from nothing at all to the result of a tool, by what the pages say', async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(UI_TIMEOUT_MS);
    await page.goto(gateway.setupLink);
    await page.getByLabel('Name').fill(adaAccount.name);
    await page.getByLabel('Email').fill(adaAccount.email);
    await page.getByLabel('Password').fill(adaAccount.password);
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Run a tool', level: 1 }).waitFor();
    await page.getByRole('heading', { name: 'Next steps' }).waitFor();
    // How a model is added is said to who can do it.
    await page.getByText('How to add a model').waitFor();
    await page.getByRole('link', { name: /^Add two numbers/ }).click();

    await page.getByText('A link filled in this form').waitFor();
    expect(await page.getByRole('textbox', { name: /^a/ }).inputValue()).toBe('2');
    expect(await page.getByRole('textbox', { name: /^b/ }).inputValue()).toBe('3');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('The sum of 2 and 3 is 5.').waitFor();
    await result.getByText('Done', { exact: true }).waitFor();
  }, 120_000);
});
