import { useUser } from '../api/user.ts';
import { NotFound } from '../app/NotFound.tsx';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { AdminNav } from './AdminNav.tsx';
import { AuditPanel } from './audit/AuditPanel.tsx';
import { ConfigPanel } from './config/ConfigPanel.tsx';
import { ConnectionsPanel } from './connections/ConnectionsPanel.tsx';
import { OverviewPanel } from './overview/OverviewPanel.tsx';
import { RolesPanel } from './roles/RolesPanel.tsx';
import { findSection, type AdminSection } from './sections.ts';
import { UsersPanel } from './users/UsersPanel.tsx';

const panels: Readonly<Record<AdminSection, () => React.ReactNode>> = {
  overview: OverviewPanel,
  roles: RolesPanel,
  users: UsersPanel,
  audit: AuditPanel,
  connections: ConnectionsPanel,
  config: ConfigPanel,
};

/** What administrators look after. Who stops being one while it is open sees that it is not for them any more. */
export function AdminPage({ page }: { readonly page: string | undefined }) {
  const { admin } = strings;
  const user = useUser();
  const section = findSection(page);
  if (!section) return <NotFound />;
  if (!user) {
    return (
      <Page title={admin.title} isWide>
        <Skeleton lines={6} />
      </Page>
    );
  }
  if (!user.isAdmin) {
    return (
      <Page title={admin.title}>
        <EmptyState icon="shield" title={admin.notForYouTitle}>
          {admin.notForYouText}
        </EmptyState>
      </Page>
    );
  }
  const Panel = panels[section];
  return (
    <>
      <AdminNav here={section} />
      <Panel key={section} />
    </>
  );
}
