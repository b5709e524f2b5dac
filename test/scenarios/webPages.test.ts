import { createRequire } from 'node:module';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith } from '@behalf/testkit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { colorSchemes, screenSizes, pageCases } from './webPages.ts';
import { startWebPagesRig, type PageCase, type WebPagesRig } from './webPagesRig.ts';
import { UI_TIMEOUT_MS } from './webRig.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** `npm run screenshots` names a directory; then there is a picture of every page on every kind of screen. */
const pictures = process.env['BEHALF_TEST_SCREENSHOTS'];

describeWith('chromium', 'every page of the interface', () => {
  let stage: WebPagesRig;
  beforeAll(async () => {
    if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
    stage = await startWebPagesRig();
  }, 180_000);
  afterAll(() => stage?.close());

  /** Opens it once, and looks at it as each kind of screen shows it. */
  async function show(
    { user, path, prepare, isNarrow }: PageCase,
    look: (
      page: Page,
      screen: keyof typeof screenSizes,
      scheme: (typeof colorSchemes)[number],
    ) => Promise<void>,
  ): Promise<void> {
    const storageState = stage.browserStateOf(user);
    const context = await stage.webRig.browser.newContext({
      // The tool that looks for barriers is a script; what the page's policy stops is tested elsewhere.
      ...{ viewport: screenSizes[isNarrow ? 'narrow' : 'wide'], reducedMotion: 'reduce', bypassCSP: true },
      ...(storageState && { storageState }),
    });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(UI_TIMEOUT_MS);
      const home = user === 'ari' ? localhost(stage.configuredGateway.url) : stage.webRig.origin;
      await page.goto(new URL(typeof path === 'string' ? path : path(stage), home).href);
      await page.getByRole('heading').first().waitFor();
      await prepare?.(page, stage);
      await page.waitForFunction('!document.querySelector("[role=status][aria-label=Loading]")');
      for (const screen of isNarrow ? (['narrow'] as const) : (['wide', 'narrow'] as const)) {
        await page.setViewportSize(screenSizes[screen]);
        for (const colorScheme of colorSchemes) {
          await page.emulateMedia({ colorScheme });
          await settle(page, colorScheme);
          await look(page, screen, colorScheme);
        }
      }
    } finally {
      await context.close();
    }
  }
  const localhost = (url: string) => url.replace('127.0.0.1', 'localhost');

  /** Until the page has taken the colours, and they are painted. */
  async function settle(page: Page, scheme: (typeof colorSchemes)[number]): Promise<void> {
    await page.waitForFunction(`(document.documentElement.dataset.theme ?? '${scheme}') === '${scheme}'`);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  }

  /** All of it in one of the two schemes; what is the same in the other is not looked at twice. */
  async function findViolations(page: Page, scheme: (typeof colorSchemes)[number]): Promise<string[]> {
    if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe);
    const options = {
      resultTypes: ['violations'],
      ...(scheme !== colorSchemes[0] && { runOnly: ['color-contrast', 'link-in-text-block'] }),
    };
    const found = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
      `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
    );
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  }

  for (const shown of pageCases) {
    test(`axe finds nothing serious on ${shown.name}, and nothing is wider than the screen`, async () => {
      await show(shown, async (page, screen, scheme) => {
        const as = `${screen}-${scheme}`;
        if (pictures !== undefined) {
          await page.screenshot({ path: join(pictures, `${shown.name}-${as}.png`) });
        }
        const overflow = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        expect({ as, overflow, violations: await findViolations(page, scheme) }).toEqual({
          ...{ as, overflow: 0, violations: [] },
        });
      });
    }, 90_000);
  }
});
