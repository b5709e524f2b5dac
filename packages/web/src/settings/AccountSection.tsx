import type { OwnUserView } from '@behalf/contracts';
import { Facts } from '../ui/Facts.tsx';
import { strings } from '../strings/strings.ts';
import { SettingsSection } from './SettingsSection.tsx';

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
