import type { AdminRoleView } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeRole, rolesQuery } from '../../api/admin.ts';
import { ApiError } from '../../api/apiError.ts';
import { fieldErrorText, hasOnlyFieldErrors } from '../../api/fieldErrors.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextArea } from '../../ui/Field.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';

/** Changes the description. When somebody else changed the role meanwhile, what it says now is shown before it is repeated. */
export function EditRoleDescriptionDialog({
  role,
  onClose,
}: {
  readonly role: AdminRoleView;
  readonly onClose: () => void;
}) {
  const { common } = strings;
  const { roles } = strings.admin;
  const client = useQueryClient();
  const [description, setDescription] = useState(role.description);
  const [latestRole, setLatestRole] = useState(role);
  const save = useMutation({
    mutationFn: () => changeRole(latestRole, { description: description.trim() }),
    onSuccess: (changed) => {
      client.setQueryData(rolesQuery.queryKey, (all) =>
        all?.map((other) => (other.name === changed.name ? changed : other)),
      );
      onClose();
    },
    onError: async (error) => {
      if (!isVersionConflict(error)) return;
      const all = await client.query({ ...rolesQuery, staleTime: 0 });
      setLatestRole(all.find(({ name }) => name === role.name) ?? latestRole);
    },
  });

  return (
    <Dialog
      title={roles.descriptionTitle(role.name)}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" variant="primary" isBusy={save.isPending}>
            {common.save}
          </Button>
        </>
      }
    >
      <TextArea
        label={roles.description}
        hint={roles.descriptionHint}
        error={fieldErrorText(save.error, 'description')}
        maxLength={500}
        rows={3}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      {isVersionConflict(save.error) ? (
        <Notice tone="warning" title={roles.conflictTitle}>
          {roles.conflictText(latestRole.description)}
        </Notice>
      ) : (
        save.error && !hasOnlyFieldErrors(save.error, ['description']) && <ErrorNotice error={save.error} />
      )}
    </Dialog>
  );
}

function isVersionConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'VERSION_CONFLICT';
}
