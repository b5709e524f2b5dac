import { useEffect } from 'react';
import { strings } from '../strings/strings.ts';

/** The name of the page, in the tab and for screen readers that announce a change of page. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · ${strings.common.product}` : strings.common.product;
  }, [title]);
}
