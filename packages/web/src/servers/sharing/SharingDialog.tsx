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
  readonly resourceTexts: SharingTexts;
  /** The user's own permissions, which limit those that they can grant. */
  readonly callerAclBits: number;
  /** False after the permission was revoked. */
  readonly canShare: boolean;
  readonly onClose: () => void;
  /** Invalidates the queries that show the resource. */
  readonly onShared: (queryClient: QueryClient) => Promise<void>;
}

/** Texts about sharing that depend on the kind of resource. */
export interface SharingTexts {
  readonly lead: string;
  readonly notShared: string;
  readonly permissionLost: string;
  readonly roleTexts: Readonly<Record<AclRole, string>>;
}

/** Grants access to a server, block or set. */
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
  // An administrator can always restore the access.
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
          // Ending public access requires no permission to grant it.
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

/** Errors of the request that belong to no field. */
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

/** A principal and its permissions. */
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
        // A user cannot remove permissions that they cannot grant.
        disabled={!roles.includes(accessRoleId)}
        onClick={onRemove}
      />
    </li>
  );
}

/** Selects one of the named permission sets. */
function AccessRoleSelect({
  label,
  value,
  roles,
  isDisabled = false,
  onChange,
}: {
  readonly label: string;
  readonly value: AclRole;
  /** The sets that the user may grant. */
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

/** Explains each set. */
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
