import { eventually } from '@behalf/testkit';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';

const ELSEWHERE = 'https://elsewhere.test';

/** A text that does something wherever it is taken for more than a text; `place` says where it stands. */
export function harmful(place: string): string {
  const harm = `window.harm='${place}'`;
  return `${place} <img src="${ELSEWHERE}/${place}.png" onerror="${harm}"><script>${harm}</script>`;
}

/** An address that does something when it is followed. */
export function harmfulAddress(place: string): string {
  return `javascript:window.harm='${place}'`;
}

/** What the interface itself never has. Its scripts come from files, and its pictures from tools. */
const madeOfText = [
  'img:not([src^="data:image/png"])',
  'script:not([src^="/assets/"])',
  'iframe, object, embed, form[action], meta[http-equiv], base',
  'a[href^="javascript:" i], a[href^="data:" i]',
  '[onerror], [onload], [onclick], [onmouseover]',
].join(', ');

export interface Watched {
  /** Nothing ran, nothing was made of a text, nobody else was asked, and the browser had nothing to prevent. */
  expectNoHarm(): Promise<void>;
  /** Shows that harm would have been seen. */
  expectToNotice(): Promise<void>;
}

/** From now on, whatever this window shows. */
export async function watch(page: Page): Promise<Watched> {
  const { origin } = new URL(page.url());
  const seen: string[] = [];
  page.on('dialog', (dialog) => {
    seen.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'data:') seen.push(`request ${url.href}`);
  });
  page.context().on('page', (other) => void seen.push(`window ${other.url()}`));
  await page.exposeFunction('tellOfViolation', (what: string) => void seen.push(`violation ${what}`));
  await page.addInitScript({
    content: `addEventListener('securitypolicyviolation', (event) => {
      tellOfViolation(event.violatedDirective + ' ' + event.blockedURI);
    });`,
  });
  await page.reload();

  const harm = async () => [
    ...seen,
    ...(await page.evaluate<string[]>(
      `[...document.querySelectorAll(${JSON.stringify(madeOfText)})].map(({ outerHTML }) => outerHTML)`,
    )),
    await page.evaluate('window.harm'),
  ];
  return {
    async expectNoHarm() {
      expect(await harm()).toEqual([undefined]);
    },
    async expectToNotice() {
      await page.evaluate(
        `const picture = document.createElement('img');
        picture.src = '${ELSEWHERE}/noticed.png';
        picture.addEventListener('error', () => (window.harm = 'noticed'));
        document.body.append(picture);`,
      );
      const noticed = ['request', 'violation img-src', '<img src', 'noticed'];
      await eventually('all of it is noticed', async () => {
        const found = (await harm()).join('\n');
        return noticed.every((part) => found.includes(part));
      });
    },
  };
}
