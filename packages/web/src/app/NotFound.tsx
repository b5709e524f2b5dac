import { Link } from 'wouter';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { Page } from '../ui/Page.tsx';

export function NotFound() {
  const { common } = strings;
  return (
    <Page title={common.notFoundTitle}>
      <EmptyState
        icon="search"
        title={common.notFoundText}
        actions={<Link href="/chat">{common.goHome}</Link>}
      />
    </Page>
  );
}
