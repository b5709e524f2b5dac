import type { SharedPrincipalView, SharingView } from '@behalf/contracts';
import type { AclRole } from '@behalf/contracts/plain';
import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/request.ts';
import { type SharedResource, sharingQuery, updateSharing } from '../../api/sharing.ts';
import { usePermission, useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Switch } from '../../ui/Field.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import { PrincipalName, PrincipalSearch } from './PrincipalSearch.tsx';
import styles from './SharingDialog.module.css';
import {
  addPrincipal,
  getGrantableRoles,
  hasSharingChanges,
  isSamePrincipal,
  reducesOwnAccess,
  removePrincipal,
  setPrincipalRole,
  toShareDraft,
  toShareRequest,
} from './shareDraft.ts';

interface SharingDialogProps {
  readonly resource: SharedResource;
  readonly title: string;
  /** What is said otherwise about this kind of thing. */
  readonly resourceTexts: SharingTexts;
  /** What the caller may do with it: nobody gives more than they have. */
  readonly callerAclBits: number;
  /** False once the right to share it was taken away. */
  readonly canShare: boolean;
  readonly onClose: () => void;
  /** What shows it has to be read anew. */
  readonly onShared: (queryClient: QueryClient) => Promise<void>;
}

interface SharingTexts {
  readonly lead: string;
  readonly notShared: string;
  readonly permissionLost: string;
  readonly roleTexts: Readonly<Record<AclRole, string>>;
}

/** Who may see, change and own something. */
export function SharingDialog(props: SharingDialogProps) {
  const words = strings.servers.sharing;
  const { data, error, refetch } = useQuery(sharingQuery(props.resource));
  if (data) return <SharingForm {...props} original={data} />;
  return (
    <Dialog isWide title={words.title(props.title)} onClose={props.onClose}>
      {error === null ? <Skeleton lines={9} /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </Dialog>
  );
}

function SharingForm({
  resource,
  title,
  resourceTexts,
  callerAclBits,
  canShare,
  onClose,
  onShared,
  original,
}: SharingDialogProps & { readonly original: SharingView }) {
  const words = strings.servers.sharing;
  const queryClient = useQueryClient();
  const user = useUser();
  const searchRef = useRef<HTMLDivElement>(null);
  const canSharePublicly = usePermission('SHARE_PUBLIC');
  const [draft, setDraft] = useState(() => toShareDraft(original));
  const roles = getGrantableRoles(callerAclBits);
  const saveMutation = useMutation({
    mutationFn: () => updateSharing(resource, toShareRequest(original, draft)),
    onSuccess: () => {
      showToast('success', words.saved);
      onClose();
      return onShared(queryClient);
    },
  });
  const isChanged = hasSharingChanges(original, draft);
  // An administrator can always give it back.
  const isReducingAccess = reducesOwnAccess(original, draft, user?.id) && !user?.isAdmin;

  useEffect(() => searchRef.current?.querySelector('input')?.focus(), []);

  return (
    <Dialog
      isWide
      title={words.title(title)}
      onClose={onClose}
      onSubmit={() => canShare && isChanged && saveMutation.mutate()}
      actions={
        <>
          <Button onClick={onClose}>{strings.common.cancel}</Button>
          <Button
            type="submit"
            variant="primary"
            isBusy={saveMutation.isPending}
            disabled={!isChanged || !canShare}
          >
            {words.save}
          </Button>
        </>
      }
    >
      {!canShare && <Notice tone="warning" title={resourceTexts.permissionLost} />}
      <p className={styles['muted']}>{resourceTexts.lead}</p>
      <div ref={searchRef}>
        <PrincipalSearch
          isAlreadyAdded={(candidate) =>
            draft.principals.some((principal) => isSamePrincipal(principal, candidate))
          }
          canSharePublicly={canSharePublicly}
          onSelect={(candidate) => setDraft(addPrincipal(draft, candidate))}
        />
      </div>
      <section className={styles['shared']} aria-label={words.sharedWith}>
        <h3>{words.sharedWith}</h3>
        {draft.principals.length === 0 && !draft.isPublic && (
          <p className={styles['muted']}>{resourceTexts.notShared}</p>
        )}
        <ul>
          {draft.principals.map((principal) => (
            <SharedPrincipalRow
              key={`${principal.type}:${principal.id}`}
              principal={principal}
              roles={roles}
              isCurrentUser={isSamePrincipal(principal, { type: 'user', id: user?.id ?? '' })}
              onRoleChange={(role) => setDraft(setPrincipalRole(draft, principal, role))}
              onRemove={() => setDraft(removePrincipal(draft, principal))}
            />
          ))}
        </ul>
        <AccessRoleDescriptions roles={roles} texts={resourceTexts.roleTexts} />
      </section>
      <div className={styles['public']}>
        <Switch
          label={words.publicTitle}
          hint={canSharePublicly ? words.publicHint : words.publicForbidden}
          isOn={draft.isPublic}
          // Who may not make it public may still end it.
          isDisabled={!canSharePublicly && !original.public}
          onChange={(isPublic) => setDraft({ ...draft, isPublic })}
        />
        {draft.isPublic && (
          <AccessRoleSelect
            label={words.publicAccess}
            value={draft.publicRole}
            roles={roles}
            isDisabled={!canSharePublicly}
            onChange={(publicRole) => setDraft({ ...draft, publicRole })}
          />
        )}
      </div>
      {isReducingAccess && <Notice tone="warning" title={words.reducesOwnAccess} />}
      {saveMutation.error !== null && <SharingError error={saveMutation.error} />}
    </Dialog>
  );
}

/** What is wrong with the request as a whole: it names nobody that a field could stand for. */
function SharingError({ error }: { readonly error: unknown }) {
  const words = strings.servers.sharing;
  const codes = error instanceof ApiError ? error.errors.map(({ code }) => code) : [];
  const messages = [...new Set(codes)].flatMap((code) => words.problems[code] ?? []);
  if (messages.length === 0) return <ErrorNotice error={error} />;
  return (
    <Notice tone="danger" title={words.problemTitle}>
      {messages.join(' ')}
    </Notice>
  );
}

/** Somebody it is shared with, and what they may do. */
function SharedPrincipalRow({
  principal,
  roles,
  isCurrentUser,
  onRoleChange,
  onRemove,
}: {
  readonly principal: SharedPrincipalView;
  readonly roles: readonly AclRole[];
  readonly isCurrentUser: boolean;
  readonly onRoleChange: (role: AclRole) => void;
  readonly onRemove: () => void;
}) {
  const words = strings.servers.sharing;
  const { name, accessRoleId } = principal;
  return (
    <li className={styles['row']}>
      <PrincipalName principal={principal} isCurrentUser={isCurrentUser} />
      <AccessRoleSelect
        label={words.accessOf(name)}
        value={accessRoleId}
        roles={roles}
        onChange={onRoleChange}
      />
      <IconButton
        label={words.remove(name)}
        icon={<Icon name="close" />}
        // Nobody takes what they could not give.
        disabled={!roles.includes(accessRoleId)}
        onClick={onRemove}
      />
    </li>
  );
}

/** Which of the named sets of rights somebody has. */
function AccessRoleSelect({
  label,
  value,
  roles,
  isDisabled = false,
  onChange,
}: {
  readonly label: string;
  readonly value: AclRole;
  /** Those that may be given. */
  readonly roles: readonly AclRole[];
  readonly isDisabled?: boolean;
  readonly onChange: (role: AclRole) => void;
}) {
  const words = strings.servers.sharing;
  const isNotGrantable = !roles.includes(value);
  return (
    <select
      className={styles['role']}
      aria-label={label}
      value={value}
      disabled={isDisabled || isNotGrantable}
      onChange={({ target }) => onChange(target.value as AclRole)}
    >
      {(isNotGrantable ? [value] : roles).map((role) => (
        <option key={role} value={role}>
          {words.roles[role]}
        </option>
      ))}
    </select>
  );
}

/** What each of them lets people do. */
function AccessRoleDescriptions({
  roles,
  texts,
}: {
  readonly roles: readonly AclRole[];
  readonly texts: Readonly<Record<AclRole, string>>;
}) {
  const words = strings.servers.sharing;
  return (
    <ul className={styles['meanings']}>
      {roles.map((role) => (
        <li key={role}>{words.describeRole(words.roles[role], texts[role])}</li>
      ))}
    </ul>
  );
}
