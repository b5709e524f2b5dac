import { useUser } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { Page } from '../ui/Page.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { AccountSection } from './AccountSection.tsx';
import { ApiKeysSection } from './ApiKeysSection.tsx';
import { AppearanceSection } from './AppearanceSection.tsx';
import { OwnSessionsSection } from './OwnSessionsSection.tsx';
import { PermissionsSection } from './PermissionsSection.tsx';

/** What belongs to the person who is signed in. */
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
