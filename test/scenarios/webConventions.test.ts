import { describeWith, eventually, scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BrowserContext, BrowserContextOptions, Page, Route } from 'playwright-core';
import { callThenReport } from './chatRig.ts';
import { isFocused, pressUntilFocused } from './webKeys.ts';
import { createServerOverRest } from './webRest.ts';
import { UI_TIMEOUT_MS, startWebRig, type WebRig } from './webRig.ts';

/** A dot of one pixel, and half a megabyte after its end. */
const photo = Buffer.concat([
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  Buffer.alloc(500_000),
]).toString('base64');

/** Collects what moved on the page without anybody having touched it. */
const watchShifts = `
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const moved = sources.map(({ node, previousRect, currentRect }) =>
        [node?.outerHTML?.slice(0, 80), JSON.stringify(previousRect), JSON.stringify(currentRect)].join(' '));
      window.shifts.push({ value, moved });
    }
  }).observe({ type: 'layout-shift', buffered: true });
`;
/** Less than anybody sees. */
const STILL = 0.005;

interface Shift {
  readonly value: number;
  readonly moved: readonly string[];
}

describeWith('chromium', 'what people are used to', () => {
  let rig: WebRig;
  let album: ScriptedHttpServer;
  let state: Awaited<ReturnType<BrowserContext['storageState']>>;
  /** Where one stands in which the photo was shown. */
  let conversation: string;
  let own: string;

  beforeAll(async () => {
    album = await scriptedHttpServer({
      era: 'legacy',
      tools: [
        {
          name: 'photo',
          handler: () => ({
            content: [
              { type: 'text', text: 'A large photo' },
              { type: 'image', data: photo, mimeType: 'image/png' },
            ],
          }),
        },
      ],
    });
    rig = await startWebRig({
      modelScript: callThenReport({ name: 'photo_mcp_album' }),
      servers: `  album:\n    type: streamable-http\n    title: Album\n    url: ${album.url}`,
      addresses: [new URL(album.url).host],
    });
    const page = await rig.openPage('ada', { path: '/chat' });
    own = await createServerOverRest(page, { type: 'streamable-http', title: 'My album', url: album.url });
    const said = await page.request.post(`${rig.origin}/api/chat`, {
      data: { text: 'Show me the photo' },
      headers: { 'x-behalf-csrf': '1' },
    });
    conversation = (said.headers()['content-location'] ?? '').replace('/api', '');
    state = await page.context().storageState();
    await page.context().close();
  }, 120_000);
  afterAll(async () => {
    await rig?.close();
    await album?.close();
  });

  /** A window of Ada's, who is signed in. */
  async function open(path: string, options: BrowserContextOptions = {}, script?: string): Promise<Page> {
    const context = await rig.browser.newContext({ storageState: state, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(UI_TIMEOUT_MS);
    if (script !== undefined) await page.addInitScript(script);
    await page.goto(rig.origin + path, { waitUntil: 'commit' });
    return page;
  }

  /** Two frames later everything that has arrived was drawn. */
  function drawn(page: Page): Promise<unknown> {
    return page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  }

  /** Holds what the page asks for until the test lets it go. */
  async function hold(page: Page | BrowserContext, address: RegExp) {
    const held: Route[] = [];
    let isOpen = false;
    await page.route(address, async (route) => {
      if (isOpen) await route.continue();
      else held.push(route);
    });
    return {
      held,
      async release() {
        isOpen = true;
        for (const route of held) await route.continue();
      },
    };
  }

  test('a picture that is too large to be kept is shown as it comes, and afterwards the card says what is missing', async () => {
    const page = await open('/chat');
    await page.getByRole('textbox', { name: 'Your message' }).fill('And again');
    await page.keyboard.press('Enter');
    const card = page.getByRole('article', { name: 'Tool call: photo on Album' });
    const picture = card.getByRole('img', { name: 'Image from the tool' });
    await page.getByRole('region', { name: 'Conversation' }).getByText('It said: A large photo').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    // The answer is over, and what is kept of it has arrived.
    await picture.waitFor();
    expect(await page.evaluate('document.querySelector("main article img").naturalWidth')).toBe(1);
    await card.getByText('The conversation stores only part of this result.', { exact: false }).waitFor();
    await page.waitForURL(/\/chat\/[^/]+$/);
    await page.reload();
    await card.getByText('The result is too large. Left out: an image.').waitFor();
    await card.getByText('A large photo').waitFor();
    expect(await picture.count()).toBe(0);
    await page.context().close();
  }, 60_000);

  test('where the browser has no clipboard, the text stands selected in a field', async () => {
    const plain = "Object.defineProperty(Navigator.prototype, 'clipboard', { get: () => undefined });";
    const page = await open('/tools/desk/echo', {}, plain);
    await page.getByRole('textbox', { name: 'Text' }).fill('hello');
    const button = page.getByRole('button', { name: 'Copy as curl' });
    await button.click();
    const field = page.getByRole('dialog', { name: 'Copy manually' }).getByRole('textbox');
    await field.waitFor();
    expect(await field.inputValue()).toContain('curl ');
    expect(await isFocused(field)).toBe(true);
    const selected = await page.evaluate(
      '(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.activeElement)',
    );
    expect(selected).toBe(await field.inputValue());
    expect(await field.getAttribute('readonly')).not.toBeNull();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    expect(await isFocused(button)).toBe(true);
    await page.context().close();
  }, 60_000);

  test('nothing on a page moves when what was slow arrives', async () => {
    for (const [path, arrived] of [
      ['/servers', 'My album'],
      ['/tools', 'Says what it is told'],
      [conversation, 'It said: A large photo'],
    ] as const) {
      const page = await open('/favicon.ico', {}, watchShifts);
      const slow = await hold(page, /\/api\/(?!user)|\/assets\/(CallCard|MarkdownBlock)-.*js$/);
      await page.goto(rig.origin + path, { waitUntil: 'commit' });
      const rows = page.getByRole('main').getByRole('status', { name: 'Loading' }).locator('span');
      await rows.first().waitFor();
      await slow.release();
      await page.getByText(arrived).first().waitFor();
      await rows.first().waitFor({ state: 'detached' });
      await drawn(page);
      const shifts = await page.evaluate<Shift[]>('window.shifts');
      expect({ path, shifts: shifts.filter(({ value }) => value > STILL) }).toEqual({ path, shifts: [] });
      await page.context().close();
    }
  }, 60_000);

  test('what says that something is on its way has its room from the first moment', async () => {
    const page = await open('/favicon.ico', {}, watchShifts);
    // Beneath the list of tools are other things.
    const slow = await hold(page, /\/tools$/);
    await page.goto(`${rig.origin}/servers/${own}`, { waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'About this server' }).waitFor();
    const shiftCount = await page.evaluate<number>('window.shifts.length');
    await page.getByRole('main').getByRole('status', { name: 'Loading' }).locator('span').first().waitFor();
    await drawn(page);
    const shifts = await page.evaluate<Shift[]>('window.shifts');
    expect(shifts.slice(shiftCount).filter(({ value }) => value > STILL)).toEqual([]);
    await slow.release();
    await page.context().close();
  }, 60_000);

  test('on a slow network there is a frame before the script has come, within the policy of the page', async () => {
    const page = await open('/settings');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    const network = await page.context().newCDPSession(page);
    await network.send('Network.enable');
    await network.send('Network.setCacheDisabled', { cacheDisabled: true });
    await network.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 100, downloadThroughput: 60_000, uploadThroughput: 60_000 },
    });
    const refused: string[] = [];
    page.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) refused.push(message.text());
    });
    await page.goto(`${rig.origin}/servers`, { waitUntil: 'commit' });
    const frame = page.locator('.frame').getByRole('status', { name: 'Loading' });
    await frame.waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
    await page.getByRole('heading', { name: 'Servers' }).waitFor();
    expect(await page.locator('.frame').count()).toBe(0);
    const [seen, script] = await page.evaluate<[number, number]>(`[
        performance.getEntriesByName('first-contentful-paint')[0].startTime,
        Math.max(...performance.getEntriesByType('resource')
          .filter(({ name }) => /common-.*\\.js$/.test(name)).map(({ responseEnd }) => responseEnd)),
      ]`);
    expect(seen).toBeLessThan(script);
    expect(refused).toEqual([]);
    await page.context().close();
  }, 60_000);

  test('a button that is busy keeps the focus, and takes no second press', async () => {
    const page = await open(`/servers/${own}`);
    // Everything has arrived, and nothing is drawn anew by itself.
    await page.getByText('photo', { exact: true }).first().waitFor();
    const slow = await hold(page, /\/reinitialize$/);
    const button = page.getByRole('button', { name: /^Reconnect/ });
    await button.press('Enter');
    await eventually('it is asked', () => slow.held.length === 1, UI_TIMEOUT_MS);
    await page.locator('button[aria-busy=true]').waitFor();
    expect(await isFocused(button)).toBe(true);
    expect(await button.isDisabled()).toBe(true);
    await page.keyboard.press('Enter');
    await button.dispatchEvent('click');
    await slow.release();
    await page.locator('button[aria-busy=true]').waitFor({ state: 'detached' });
    expect(slow.held).toHaveLength(1);
    expect(await isFocused(button)).toBe(true);

    // Neither does its form, whose field has the focus.
    const saving = await hold(page, /\/api\/chat\/[^/]+$/);
    await page.getByRole('button', { name: 'Rename Show me the photo' }).press('Enter');
    const field = page.getByRole('textbox', { name: 'Title' });
    await field.fill('The photo');
    await field.press('Enter');
    await eventually('it is sent', () => saving.held.length === 1, UI_TIMEOUT_MS);
    await page.locator('button[aria-busy=true]').waitFor();
    await field.press('Enter');
    await saving.release();
    await field.waitFor({ state: 'detached' });
    expect(saving.held).toHaveLength(1);
    await page.context().close();
  }, 60_000);

  test('the navigation of a narrow screen takes the focus, holds the page back, and gives the focus back', async () => {
    const page = await open('/servers', { viewport: { width: 390, height: 844 } });
    await page.getByRole('heading', { name: 'Servers' }).waitFor();
    const button = page.getByRole('button', { name: /^(Open|Close) menu$/ });
    const navigation = page.getByRole('navigation', { name: 'Main navigation' });
    const [main, first] = [page.locator('main'), navigation.getByRole('link', { name: 'New chat' })];
    const isHeldBack = () => page.evaluate<boolean>('document.querySelector("main").inert');
    for (const leave of [
      () => page.keyboard.press('Escape'),
      () => page.mouse.click(380, 500),
      () => button.click(),
      () => navigation.getByRole('link', { name: 'Servers' }).click(),
    ]) {
      await button.press('Enter');
      await first.waitFor();
      expect(await isFocused(first)).toBe(true);
      expect(await isHeldBack()).toBe(true);
      await leave();
      await first.waitFor({ state: 'hidden' });
      expect(await isHeldBack()).toBe(false);
      expect(await isFocused(button)).toBe(true);
    }
    // Round and round, and never into the page.
    await button.press('Enter');
    for (let presses = 0; presses < 12; presses += 1) {
      await page.keyboard.press('Tab');
      expect(await main.locator(':focus').count()).toBe(0);
    }
    // Whoever goes elsewhere goes on there.
    await pressUntilFocused(page, 'Tab', navigation.getByRole('link', { name: 'Tools' }));
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { name: 'Tools', level: 1 });
    await heading.waitFor();
    await eventually('the heading has the focus', () => isFocused(heading), UI_TIMEOUT_MS);
    expect(await isHeldBack()).toBe(false);
    // A screen that was turned has room for both.
    await button.press('Enter');
    await first.waitFor();
    await page.setViewportSize({ width: 1280, height: 860 });
    await eventually('the page is there', async () => !(await isHeldBack()), UI_TIMEOUT_MS);
    await page.context().close();
  }, 60_000);

  test('the dialogs of a server stand in the address, and open for who may do what they are for', async () => {
    const page = await open(`/servers/${own}`);
    for (const [name, title] of [
      ['Edit', 'edit'],
      ['Share', 'share'],
    ] as const) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.waitForURL((url) => url.searchParams.has(title));
      await page.reload();
      await page.getByRole('dialog').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(new URL(page.url()).search).toBe('');
    }
    // One of the file, which nobody edits here.
    await page.goto(`${rig.origin}/servers/album?edit=1`);
    await page.getByRole('heading', { name: 'Album', level: 1 }).waitFor();
    await page.getByText('photo').first().waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.context().close();
  }, 60_000);
});
