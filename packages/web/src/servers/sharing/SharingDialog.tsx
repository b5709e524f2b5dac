import type { SharingView } from '@behalf/contracts';
import type { AclRole } from '@behalf/contracts/plain';
import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/apiError.ts';
import { updateSharing, sharingQuery, type SharedResource } from '../../api/sharing.ts';
import { usePermission, useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Switch } from '../../ui/Field.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/toasts.ts';
import { PrincipalSearch } from './PrincipalSearch.tsx';
import { AccessRoleDescriptions, AccessRoleSelect } from './AccessRoleSelect.tsx';
import {
  hasSharingChanges,
  toShareDraft,
  isSamePrincipal,
  reducesOwnAccess,
  grantableRoles,
  toShareRequest,
  removePrincipal,
  addPrincipal,
  setPrincipalRole,
} from './shareDraft.ts';
import { SharedPrincipalRow } from './SharedPrincipalRow.tsx';
import styles from './SharingDialog.module.css';

export interface SharingDialogProps {
  readonly resource: SharedResource;
  readonly title: string;
  /** What is said otherwise about this kind of thing. */
  readonly texts: SharingTexts;
  /** What the caller may do with it: nobody gives more than they have. */
  readonly ownBits: number;
  /** False once the right to share it was taken away. */
  readonly canShare: boolean;
  readonly onClose: () => void;
  /** What shows it has to be read anew. */
  readonly onShared: (client: QueryClient) => Promise<void>;
}

export interface SharingTexts {
  readonly lead: string;
  readonly notShared: string;
  readonly permissionLost: string;
  readonly roleTexts: Readonly<Record<AclRole, string>>;
}

/** Who may see, change and own something. */
export function SharingDialog(props: SharingDialogProps) {
  const text = strings.servers.sharing;
  const { data, error, refetch } = useQuery(sharingQuery(props.resource));
  if (data) return <SharingForm {...props} original={data} />;
  return (
    <Dialog isWide title={text.title(props.title)} onClose={props.onClose}>
      {error === null ? <Skeleton lines={9} /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </Dialog>
  );
}

function SharingForm({
  resource,
  title,
  texts,
  ownBits,
  canShare,
  onClose,
  onShared,
  original,
}: SharingDialogProps & { readonly original: SharingView }) {
  const text = strings.servers.sharing;
  const client = useQueryClient();
  const user = useUser();
  const search = useRef<HTMLDivElement>(null);
  const canSharePublicly = usePermission('SHARE_PUBLIC');
  const [draft, setDraft] = useState(() => toShareDraft(original));
  const roles = grantableRoles(ownBits);
  const mutation = useMutation({
    mutationFn: () => updateSharing(resource, toShareRequest(original, draft)),
    onSuccess: () => {
      showToast('success', text.saved);
      onClose();
      return onShared(client);
    },
  });
  const isChanged = hasSharingChanges(original, draft);
  // An administrator can always give it back.
  const isReducingAccess = reducesOwnAccess(original, draft, user?.id) && !user?.isAdmin;

  useEffect(() => search.current?.querySelector('input')?.focus(), []);

  return (
    <Dialog
      isWide
      title={text.title(title)}
      onClose={onClose}
      onSubmit={() => canShare && isChanged && mutation.mutate()}
      actions={
        <>
          <Button onClick={onClose}>{strings.common.cancel}</Button>
          <Button
            type="submit"
            variant="primary"
            isBusy={mutation.isPending}
            disabled={!isChanged || !canShare}
          >
            {text.save}
          </Button>
        </>
      }
    >
      {!canShare && <Notice tone="warning" title={texts.permissionLost} />}
      <p className={styles['muted']}>{texts.lead}</p>
      <div ref={search}>
        <PrincipalSearch
          isTaken={(found) => draft.principals.some((messages) => isSamePrincipal(messages, found))}
          mayPublic={canSharePublicly}
          onSelect={(found) => setDraft(addPrincipal(draft, found))}
        />
      </div>
      <section className={styles['shared']} aria-label={text.people}>
        <h3>{text.people}</h3>
        {draft.principals.length === 0 && !draft.isPublic && (
          <p className={styles['muted']}>{texts.notShared}</p>
        )}
        <ul>
          {draft.principals.map((principal) => (
            <SharedPrincipalRow
              key={`${principal.type}:${principal.id}`}
              principal={principal}
              roles={roles}
              isOwn={isSamePrincipal(principal, { type: 'user', id: user?.id ?? '' })}
              onRole={(role) => setDraft(setPrincipalRole(draft, principal, role))}
              onRemove={() => setDraft(removePrincipal(draft, principal))}
            />
          ))}
        </ul>
        <AccessRoleDescriptions roles={roles} texts={texts.roleTexts} />
      </section>
      <div className={styles['public']}>
        <Switch
          label={text.publicTitle}
          hint={canSharePublicly ? text.publicHint : text.publicForbidden}
          isOn={draft.isPublic}
          // Who may not make it public may still end it.
          disabled={!canSharePublicly && !original.public}
          onChange={(isPublic) => setDraft({ ...draft, isPublic })}
        />
        {draft.isPublic && (
          <AccessRoleSelect
            label={text.publicAccess}
            value={draft.publicRole}
            roles={roles}
            isDisabled={!canSharePublicly}
            onChange={(publicRole) => setDraft({ ...draft, publicRole })}
          />
        )}
      </div>
      {isReducingAccess && <Notice tone="warning" title={text.losesOwn} />}
      {mutation.error !== null && <SharingError error={mutation.error} />}
    </Dialog>
  );
}

/** What is wrong with the request as a whole: it names nobody that a field could stand for. */
function SharingError({ error }: { readonly error: unknown }) {
  const text = strings.servers.sharing;
  const codes = error instanceof ApiError ? error.errors.map(({ code }) => code) : [];
  const messages = [...new Set(codes)].flatMap((code) => text.problems[code] ?? []);
  if (messages.length === 0) return <ErrorNotice error={error} />;
  return (
    <Notice tone="danger" title={text.problemTitle}>
      {messages.join(' ')}
    </Notice>
  );
}
