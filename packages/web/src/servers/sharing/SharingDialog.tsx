import type { SharingView } from '@behalf/contracts';
import type { AclRole } from '@behalf/contracts/plain';
import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/apiError.ts';
import { share, sharingQuery, type Shared } from '../../api/sharing.ts';
import { usePermission, useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Switch } from '../../ui/Field.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/toasts.ts';
import { PrincipalSearch } from './PrincipalSearch.tsx';
import { RoleMeanings, RoleSelect } from './RoleSelect.tsx';
import {
  changesSharing,
  draftOf,
  isSame,
  losesOwn,
  rolesWithin,
  shareRequest,
  without,
  withPrincipal,
  withRole,
} from './shareDraft.ts';
import { SharedRow } from './SharedRow.tsx';
import styles from './SharingDialog.module.css';

export interface SharingProps {
  readonly shared: Shared;
  readonly title: string;
  /** What is said otherwise about this kind of thing. */
  readonly words: SharingWords;
  /** What the caller may do with it: nobody gives more than they have. */
  readonly held: number;
  /** False once the right to share it was taken away. */
  readonly mayShare: boolean;
  readonly onClose: () => void;
  /** What shows it has to be read anew. */
  readonly onShared: (client: QueryClient) => Promise<void>;
}

export interface SharingWords {
  readonly lead: string;
  readonly nobody: string;
  readonly rightsLost: string;
  readonly roleTexts: Readonly<Record<AclRole, string>>;
}

/** Who may see, change and own something. */
export function SharingDialog(props: SharingProps) {
  const text = strings.servers.sharing;
  const { data, error, refetch } = useQuery(sharingQuery(props.shared));
  if (data) return <SharingForm {...props} before={data} />;
  return (
    <Dialog isWide title={text.title(props.title)} onClose={props.onClose}>
      {error === null ? <Skeleton lines={9} /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </Dialog>
  );
}

function SharingForm({
  shared,
  title,
  words,
  held,
  mayShare,
  onClose,
  onShared,
  before,
}: SharingProps & { readonly before: SharingView }) {
  const text = strings.servers.sharing;
  const client = useQueryClient();
  const user = useUser();
  const search = useRef<HTMLDivElement>(null);
  const mayPublic = usePermission('SHARE_PUBLIC');
  const [draft, setDraft] = useState(() => draftOf(before));
  const roles = rolesWithin(held);
  const saving = useMutation({
    mutationFn: () => share(shared, shareRequest(before, draft)),
    onSuccess: () => {
      showToast('success', text.saved);
      onClose();
      return onShared(client);
    },
  });
  const isChanged = changesSharing(before, draft);
  // An administrator can always give it back.
  const isLosing = losesOwn(before, draft, user?.id) && !user?.isAdmin;

  useEffect(() => search.current?.querySelector('input')?.focus(), []);

  return (
    <Dialog
      isWide
      title={text.title(title)}
      onClose={onClose}
      onSubmit={() => mayShare && isChanged && saving.mutate()}
      actions={
        <>
          <Button onClick={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary" isBusy={saving.isPending} disabled={!isChanged || !mayShare}>
            {text.save}
          </Button>
        </>
      }
    >
      {!mayShare && <Notice tone="warning" title={words.rightsLost} />}
      <p className={styles['muted']}>{words.lead}</p>
      <div ref={search}>
        <PrincipalSearch
          isTaken={(found) => draft.principals.some((known) => isSame(known, found))}
          mayPublic={mayPublic}
          onPick={(found) => setDraft(withPrincipal(draft, found))}
        />
      </div>
      <section className={styles['shared']} aria-label={text.people}>
        <h3>{text.people}</h3>
        {draft.principals.length === 0 && !draft.isPublic && (
          <p className={styles['muted']}>{words.nobody}</p>
        )}
        <ul>
          {draft.principals.map((principal) => (
            <SharedRow
              key={`${principal.type}:${principal.id}`}
              principal={principal}
              roles={roles}
              isOwn={isSame(principal, { type: 'user', id: user?.id ?? '' })}
              onRole={(role) => setDraft(withRole(draft, principal, role))}
              onRemove={() => setDraft(without(draft, principal))}
            />
          ))}
        </ul>
        <RoleMeanings roles={roles} texts={words.roleTexts} />
      </section>
      <div className={styles['public']}>
        <Switch
          label={text.publicTitle}
          hint={mayPublic ? text.publicHint : text.publicForbidden}
          isOn={draft.isPublic}
          // Who may not make it public may still end it.
          disabled={!mayPublic && !before.public}
          onChange={(isPublic) => setDraft({ ...draft, isPublic })}
        />
        {draft.isPublic && (
          <RoleSelect
            label={text.publicAccess}
            value={draft.publicRole}
            roles={roles}
            isDisabled={!mayPublic}
            onChange={(publicRole) => setDraft({ ...draft, publicRole })}
          />
        )}
      </div>
      {isLosing && <Notice tone="warning" title={text.losesOwn} />}
      {saving.error !== null && <SharingProblem error={saving.error} />}
    </Dialog>
  );
}

/** What is wrong with the request as a whole: it names nobody that a field could stand for. */
function SharingProblem({ error }: { readonly error: unknown }) {
  const text = strings.servers.sharing;
  const codes = error instanceof ApiError ? error.errors.map(({ code }) => code) : [];
  const known = [...new Set(codes)].flatMap((code) => text.problems[code] ?? []);
  if (known.length === 0) return <ErrorNotice error={error} />;
  return (
    <Notice tone="danger" title={text.problemTitle}>
      {known.join(' ')}
    </Notice>
  );
}
