import type { Locator, Page } from 'playwright-core';

/** More presses than any page has stops. */
const MAX_PRESSES = 80;

export async function isFocused(element: Locator): Promise<boolean> {
  return (await element.and(element.page().locator(':focus')).count()) === 1;
}

/** Presses a key until the focus is there. */
export async function pressUntilFocused(
  page: Page,
  key: 'Tab' | 'Shift+Tab',
  element: Locator,
): Promise<void> {
  await element.waitFor({ state: 'attached' });
  for (let presses = 0; presses < MAX_PRESSES; presses += 1) {
    if (await isFocused(element)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${String(element)}`);
}
