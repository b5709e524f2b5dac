import type { Locator, Page } from 'playwright-core';
import type { BenchBrowser } from './browser.ts';

const SCROLL_STEP_PX = 600;
const MAX_STEPS = 400;

/** Runs in the page. The browser reports tasks over 50 ms. */
const recordLongTasksScript = `
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTasks.push(duration);
  }).observe({ type: 'longtask' });
`;
/** The part of the DOM that the two functions below use in the page. */
interface Scroller {
  readonly scrollTop: number;
  readonly clientHeight: number;
  readonly scrollHeight: number;
  readonly parentElement: Scroller | null;
  readonly textContent: string;
}
interface PageGlobals {
  readonly getComputedStyle: (element: Scroller) => { readonly overflowY: string };
  readonly requestAnimationFrame: (callback: () => void) => void;
}

/** The scrolling ancestor. */
function findScroller(element: unknown): Scroller | null {
  const { getComputedStyle } = globalThis as unknown as PageGlobals;
  for (let ancestor = element as Scroller | null; ancestor; ancestor = ancestor.parentElement) {
    const isScrollable = /auto|scroll/.test(getComputedStyle(ancestor).overflowY);
    if (isScrollable && ancestor.scrollHeight > ancestor.clientHeight + 1) return ancestor;
  }
  return null;
}

/** Checked after the next frame. */
function isAtEnd(element: Scroller | null): Promise<boolean> {
  const { requestAnimationFrame } = globalThis as unknown as PageGlobals;
  return new Promise((resolve) => {
    requestAnimationFrame(() =>
      resolve(element !== null && element.scrollTop + element.clientHeight >= element.scrollHeight - 2),
    );
  });
}

/** The longest time without response while a user scrolls from end to end. */
export async function measureScrolling(browser: BenchBrowser): Promise<{
  scroll_lines_longest_task_ms: number;
  scroll_tools_longest_task_ms: number;
}> {
  const { page } = await browser.openSlowPage();
  await page.goto(`${browser.origin}/tools/plain/lines`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const lines = await longestTaskWhileScrolling(
    page,
    page.getByText('0\tline', { exact: false }),
    '1999\tline',
  );
  await page.goto(`${browser.origin}/tools`);
  const tools = await longestTaskWhileScrolling(page, page.getByText('tool_0', { exact: true }), 'tool_999');
  await page.context().close();
  return { scroll_lines_longest_task_ms: lines, scroll_tools_longest_task_ms: tools };
}

async function longestTaskWhileScrolling(page: Page, first: Locator, last: string): Promise<number> {
  await first.first().waitFor({ timeout: 30_000 });
  await page.evaluate(recordLongTasksScript);
  await first.first().hover();
  const scrollArea = await first.first().evaluateHandle(findScroller);
  for (let step = 0; step < MAX_STEPS; step += 1) {
    await page.mouse.wheel(0, SCROLL_STEP_PX);
    if (!(await page.evaluate(isAtEnd, scrollArea))) continue;
    // The end may still grow.
    const visibleText = await scrollArea.evaluate((element) => element?.textContent ?? '');
    if (visibleText.includes(last)) {
      const longTasks = await page.evaluate<number[]>('globalThis.longTasks');
      return Math.round(Math.max(0, ...longTasks));
    }
  }
  throw new Error(`${last} was not reached`);
}
