import type { AdminRoleView } from '@behalf/contracts';
import { type McpPermission, mcpPermissions } from '@behalf/contracts/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeRole, createRole, deleteRole, rolesQuery } from '../../api/admin.ts';
import { fieldErrorText, hasOnlyFieldErrors } from '../../api/explain.ts';
import { ApiError } from '../../api/request.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/Dialog.tsx';
import { Switch, TextArea, TextField } from '../../ui/Field.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import { validateRoleName } from './roleName.ts';

const noPermissions: Readonly<Record<McpPermission, boolean>> = {
  USE: false,
  CREATE: false,
  SHARE: false,
  SHARE_PUBLIC: false,
  CONFIGURE_OBO: false,
};

export function NewRoleDialog({ onClose }: { readonly onClose: () => void }) {
  const { common } = strings;
  const { roles } = strings.admin;
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [permissions, setPermissions] = useState({ ...noPermissions, USE: true });
  const [hasSubmitted, setHasSubmitted] = useState(false);
  const createMutation = useMutation({
    mutationFn: () =>
      createRole({
        name: name.trim(),
        description: description.trim(),
        permissions: { MCP_SERVERS: permissions },
      }),
    onSuccess: (role) => {
      void queryClient.invalidateQueries({ queryKey: rolesQuery.queryKey });
      showToast('success', roles.created(role.name));
      onClose();
    },
  });

  const problem = hasSubmitted ? validateRoleName(name.trim()) : undefined;
  const isTaken = createMutation.error instanceof ApiError && createMutation.error.code === 'ROLE_TAKEN';
  const nameError = problem
    ? roles.nameProblems[problem]
    : isTaken
      ? roles.nameTaken
      : fieldErrorText(createMutation.error, 'name');

  function submit(): void {
    setHasSubmitted(true);
    if (!validateRoleName(name.trim())) createMutation.mutate();
  }

  return (
    <Dialog
      title={roles.newTitle}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" variant="primary" isBusy={createMutation.isPending}>
            {roles.create}
          </Button>
        </>
      }
    >
      <TextField
        label={roles.name}
        hint={roles.nameHint}
        error={nameError}
        isRequired
        autoComplete="off"
        maxLength={64}
        value={name}
        onChange={(event) => {
          setName(event.target.value);
          createMutation.reset();
        }}
      />
      <TextArea
        label={roles.description}
        error={fieldErrorText(createMutation.error, 'description')}
        maxLength={500}
        rows={2}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      {mcpPermissions.map((permission) => (
        <Switch
          key={permission}
          label={roles.permissions[permission].name}
          hint={roles.permissions[permission].allows}
          isOn={permissions[permission]}
          onChange={(isOn) => setPermissions({ ...permissions, [permission]: isOn })}
        />
      ))}
      {createMutation.error &&
        !isTaken &&
        !hasOnlyFieldErrors(createMutation.error, ['name', 'description']) && (
          <ErrorNotice error={createMutation.error} />
        )}
    </Dialog>
  );
}

/** Changes the description. After a version conflict it shows the current role before the retry. */
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

export function DeleteRoleDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { roles } = strings.admin;
  const queryClient = useQueryClient();
  const deleteMutation = useMutation({
    mutationFn: () => deleteRole(name),
    onSuccess: () => {
      queryClient.setQueryData(rolesQuery.queryKey, (all) => all?.filter((role) => role.name !== name));
      showToast('success', roles.deleted(name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={roles.deleteTitle(name)}
      confirm={strings.common.delete}
      isBusy={deleteMutation.isPending}
      error={deleteMutation.error}
      onConfirm={() => deleteMutation.mutate()}
      onClose={onClose}
    >
      {roles.deleteText}
    </ConfirmDialog>
  );
}
