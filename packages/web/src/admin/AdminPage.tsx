import { Link } from 'wouter';
import { useUser } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { EmptyState } from '../ui/EmptyState.tsx';
import { NotFound, Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { classNames } from '../ui/classNames.ts';
import styles from './AdminNav.module.css';
import { AuditPanel } from './audit/AuditPanel.tsx';
import { ConfigPanel } from './config/ConfigPanel.tsx';
import { ConnectionsPanel } from './connections/ConnectionsPanel.tsx';
import { OverviewPanel } from './overview/OverviewPanel.tsx';
import { RolesPanel } from './roles/RolesPanel.tsx';
import { type AdminSection, findSection, operatorSections, sectionPath, sections } from './sections.ts';
import { UsersPanel } from './users/UsersPanel.tsx';

const panels: Readonly<Record<AdminSection, () => React.ReactNode>> = {
  overview: OverviewPanel,
  roles: RolesPanel,
  users: UsersPanel,
  audit: AuditPanel,
  connections: ConnectionsPanel,
  config: ConfigPanel,
};

/** Administration page. Shows a notice instead if the user is not, or no longer, an administrator. */
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
        <EmptyState icon="shield" title={admin.forbiddenTitle}>
          {admin.forbiddenText}
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

/** Tabs of the administration. Hides operator sections from other administrators. */
export function AdminNav({ here }: { readonly here: AdminSection }) {
  const { admin } = strings;
  const isOperator = useUser()?.isOperator ?? false;
  return (
    <nav className={styles['nav']} aria-label={admin.navigation}>
      <ul className={styles['links']}>
        {sections
          .filter((section) => isOperator || !operatorSections.has(section))
          .map((section) => (
            <li key={section}>
              <Link
                href={sectionPath(section)}
                className={classNames(styles['link'], section === here && styles['here'])}
                aria-current={section === here ? 'page' : undefined}
              >
                {admin[section].tab}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  );
}
