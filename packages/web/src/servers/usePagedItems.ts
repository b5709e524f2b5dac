import { useState } from 'react';

/** The first of many, and a way to the next: a thousand at once would hold up the page. */
export function usePagedItems<T>(items: readonly T[], step: number) {
  const [pages, setPages] = useState(1);
  const shown = items.slice(0, pages * step);
  const hidden = items.length - shown.length;
  return { shown, nextCount: Math.min(hidden, step), showMore: () => setPages(pages + 1) };
}
