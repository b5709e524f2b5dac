import type { OwnUserView, SessionView } from '@behalf/contracts';
import { mcpPermissions } from '@behalf/contracts/plain';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { endOwnSession, ownSessionsQuery, useUser } from '../api/user.ts';
import { clearBehalfStorage } from '../app/userSession.ts';
import { setTheme, themes, useTheme } from '../hooks/useTheme.ts';
import { strings } from '../strings/strings.ts';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { Facts } from '../ui/Facts.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { SegmentedControl } from '../ui/SegmentedControl.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showToast } from '../ui/Toasts.tsx';
import { classNames } from '../ui/classNames.ts';
import { ApiKeysSection } from './ApiKeysSection.tsx';
import styles from './PermissionsSection.module.css';
import { SessionList } from './SessionList.tsx';
import { SettingsSection } from './SettingsSection.tsx';

/** Settings of the signed-in user. */
export function SettingsPage() {
  const { settings } = strings;
  const user = useUser();
  return (
    <Page title={settings.title}>
      <AppearanceSection />
      {user ? (
        <>
          <AccountSection user={user} />
          <PermissionsSection user={user} />
          <ApiKeysSection isAdmin={user.isAdmin} />
          <OwnSessionsSection />
        </>
      ) : (
        <Skeleton lines={12} />
      )}
    </Page>
  );
}

export function AppearanceSection() {
  const { settings, shell } = strings;
  return (
    <SettingsSection title={shell.theme} lead={settings.appearanceLead}>
      <SegmentedControl
        label={shell.theme}
        value={useTheme()}
        options={themes.map((value) => ({ value, label: shell.themes[value] }))}
        onChange={setTheme}
      />
    </SettingsSection>
  );
}

export function AccountSection({ user }: { readonly user: OwnUserView }) {
  const { account } = strings.settings;
  const { name, email, id, role, isAdmin, isOperator } = user;
  const status = isOperator ? account.operator : isAdmin ? account.admin : account.member;
  return (
    <SettingsSection title={account.title}>
      <Facts
        facts={[
          { name: account.name, value: name },
          { name: account.email, value: email },
          { name: account.role, value: account.roleAndStatus(role, status) },
          { name: account.id, value: id, isCode: true },
        ]}
      />
    </SettingsSection>
  );
}

/** The permissions of the user's role in words. Updates while the page is open. */
export function PermissionsSection({ user }: { readonly user: OwnUserView }) {
  const { permissions } = strings.settings;
  return (
    <SettingsSection title={permissions.title} lead={permissions.lead(user.role)}>
      <ul className={styles['list']}>
        {mcpPermissions.map((permission) => {
          const isAllowed = user.permissions.MCP_SERVERS[permission];
          return (
            <li key={permission} className={classNames(styles['permission'], !isAllowed && styles['denied'])}>
              <Icon name={isAllowed ? 'check' : 'close'} />
              <span>{permissions.describe(permissions.descriptions[permission], isAllowed)}</span>
            </li>
          );
        })}
      </ul>
    </SettingsSection>
  );
}

/** The user's sessions. Ending the current one requires confirmation, because it signs the user out. */
export function OwnSessionsSection() {
  const { sessions } = strings.settings;
  const queryClient = useQueryClient();
  const { data, error, refetch } = useQuery(ownSessionsQuery);
  const [sessionToConfirm, setSessionToConfirm] = useState<SessionView | null>(null);
  const endMutation = useMutation({
    mutationFn: ({ id }: SessionView) => endOwnSession(id),
    onSuccess: (_result, { current }) => {
      if (!current) {
        showToast('success', sessions.ended);
        return;
      }
      clearBehalfStorage();
      location.assign('/');
    },
    // Also after a failure: an unknown session has ended elsewhere.
    onSettled: (_result, _error, { current }) =>
      current ? undefined : queryClient.invalidateQueries({ queryKey: ownSessionsQuery.queryKey }),
  });
  return (
    <SettingsSection title={sessions.title} lead={sessions.lead}>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {endMutation.error && !sessionToConfirm && <ErrorNotice error={endMutation.error} />}
      {!data && !error && <Skeleton lines={3} />}
      {data && (
        <SessionList
          sessions={data}
          endingId={endMutation.isPending ? endMutation.variables.id : undefined}
          onEnd={(session) => (session.current ? setSessionToConfirm(session) : endMutation.mutate(session))}
        />
      )}
      {sessionToConfirm && (
        <ConfirmDialog
          title={sessions.endOwnTitle}
          confirm={sessions.end}
          isBusy={endMutation.isPending}
          error={endMutation.error}
          onConfirm={() => endMutation.mutate(sessionToConfirm)}
          onClose={() => setSessionToConfirm(null)}
        >
          {sessions.endOwnText}
        </ConfirmDialog>
      )}
    </SettingsSection>
  );
}
