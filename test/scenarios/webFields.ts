import type { Locator } from 'playwright-core';

/** What is said about a field besides its name, to eyes and ears alike. */
export async function readDescription(field: Locator): Promise<string> {
  const ids = (await field.getAttribute('aria-describedby'))?.split(' ') ?? [];
  const texts = ids.map((id) => field.page().locator(`[id="${id}"]`).textContent());
  return (await Promise.all(texts)).join(' ');
}
