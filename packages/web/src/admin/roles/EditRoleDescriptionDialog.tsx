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
  const queryClient = useQueryClient();
  const [description, setDescription] = useState(role.description);
  const [latestRole, setLatestRole] = useState(role);
  const saveMutation = useMutation({
    mutationFn: () => changeRole(latestRole, { description: description.trim() }),
    onSuccess: (changed) => {
      queryClient.setQueryData(rolesQuery.queryKey, (all) =>
        all?.map((other) => (other.name === changed.name ? changed : other)),
      );
      onClose();
    },
    onError: async (error) => {
      if (!isVersionConflict(error)) return;
      const all = await queryClient.query({ ...rolesQuery, staleTime: 0 });
      setLatestRole(all.find(({ name }) => name === role.name) ?? latestRole);
    },
  });

  return (
    <Dialog
      title={roles.descriptionTitle(role.name)}
      onClose={onClose}
      onSubmit={() => saveMutation.mutate()}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" variant="primary" isBusy={saveMutation.isPending}>
            {common.save}
          </Button>
        </>
      }
    >
      <TextArea
        label={roles.description}
        hint={roles.descriptionHint}
        error={fieldErrorText(saveMutation.error, 'description')}
        maxLength={500}
        rows={3}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      {isVersionConflict(saveMutation.error) ? (
        <Notice tone="warning" title={roles.conflictTitle}>
          {roles.conflictText(latestRole.description)}
        </Notice>
      ) : (
        saveMutation.error &&
        !hasOnlyFieldErrors(saveMutation.error, ['description']) && <ErrorNotice error={saveMutation.error} />
      )}
    </Dialog>
  );
}

function isVersionConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'VERSION_CONFLICT';
}
