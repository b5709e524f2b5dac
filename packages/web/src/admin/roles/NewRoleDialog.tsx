import { mcpPermissions, type McpPermission } from '@behalf/contracts/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createRole, rolesQuery } from '../../api/admin.ts';
import { ApiError } from '../../api/apiError.ts';
import { fieldErrorText, hasOnlyFieldErrors } from '../../api/fieldErrors.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Switch, TextArea, TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { showToast } from '../../ui/toasts.ts';
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
