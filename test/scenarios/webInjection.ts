import { eventually } from '@behalf/testkit';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';

const EXTERNAL_ORIGIN = 'https://elsewhere.test';

/** A text that does something wherever it is taken for more than a text; `place` says where it stands. */
export function injectionText(location: string): string {
  const script = `window.harm='${location}'`;
  return `${location} <img src="${EXTERNAL_ORIGIN}/${location}.png" onerror="${script}"><script>${script}</script>`;
}

/** An address that does something when it is followed. */
export function injectionUrl(location: string): string {
  return `javascript:window.harm='${location}'`;
}

/** What the interface itself never has. Its scripts come from files, and its pictures from tools. */
const injectedSelectors = [
  'img:not([src^="data:image/png"])',
  'script:not([src^="/assets/"])',
  'iframe, object, embed, form[action], meta[http-equiv], base',
  'a[href^="javascript:" i], a[href^="data:" i]',
  '[onerror], [onload], [onclick], [onmouseover]',
].join(', ');

export interface InjectionMonitor {
  /** Nothing ran, nothing was made of a text, nobody else was asked, and the browser had nothing to prevent. */
  expectNoInjection(): Promise<void>;
  /** Shows that harm would have been seen. */
  expectDetection(): Promise<void>;
}

/** From now on, whatever this window shows. */
export async function monitorInjections(page: Page): Promise<InjectionMonitor> {
  const { origin } = new URL(page.url());
  const observed: string[] = [];
  page.on('dialog', (dialog) => {
    observed.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'data:') observed.push(`request ${url.href}`);
  });
  page.context().on('page', (popup) => void observed.push(`window ${popup.url()}`));
  await page.exposeFunction('tellOfViolation', (what: string) => void observed.push(`violation ${what}`));
  await page.addInitScript({
    content: `addEventListener('securitypolicyviolation', (event) => {
      tellOfViolation(event.violatedDirective + ' ' + event.blockedURI);
    });`,
  });
  await page.reload();

  const script = async () => [
    ...observed,
    ...(await page.evaluate<string[]>(
      `[...document.querySelectorAll(${JSON.stringify(injectedSelectors)})].map(({ outerHTML }) => outerHTML)`,
    )),
    await page.evaluate('window.harm'),
  ];
  return {
    async expectNoInjection() {
      expect(await script()).toEqual([undefined]);
    },
    async expectDetection() {
      await page.evaluate(
        `const picture = document.createElement('img');
        picture.src = '${EXTERNAL_ORIGIN}/noticed.png';
        picture.addEventListener('error', () => (window.harm = 'noticed'));
        document.body.append(picture);`,
      );
      const expectedDetections = ['request', 'violation img-src', '<img src', 'noticed'];
      await eventually('all of it is noticed', async () => {
        const detected = (await script()).join('\n');
        return expectedDetections.every((part) => detected.includes(part));
      });
    },
  };
}
