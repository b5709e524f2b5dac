import { mcpPermissions, type McpPermission } from '@behalf/contracts/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createRole, rolesQuery } from '../../api/admin.ts';
import { ApiError } from '../../api/apiError.ts';
import { fieldError, isAboutFields } from '../../api/fieldErrors.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Switch, TextArea, TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { showToast } from '../../ui/toasts.ts';
import { roleNameProblem } from './roleName.ts';

const nothing: Readonly<Record<McpPermission, boolean>> = {
  USE: false,
  CREATE: false,
  SHARE: false,
  SHARE_PUBLIC: false,
  CONFIGURE_OBO: false,
};

export function NewRoleDialog({ onClose }: { readonly onClose: () => void }) {
  const { common } = strings;
  const { roles } = strings.admin;
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [bits, setBits] = useState({ ...nothing, USE: true });
  const [wasSent, setSent] = useState(false);
  const create = useMutation({
    mutationFn: () =>
      createRole({ name: name.trim(), description: description.trim(), permissions: { MCP_SERVERS: bits } }),
    onSuccess: (role) => {
      void client.invalidateQueries({ queryKey: rolesQuery.queryKey });
      showToast('success', roles.created(role.name));
      onClose();
    },
  });

  const problem = wasSent ? roleNameProblem(name.trim()) : undefined;
  const isTaken = create.error instanceof ApiError && create.error.code === 'ROLE_TAKEN';
  const nameError = problem
    ? roles.nameProblems[problem]
    : isTaken
      ? roles.taken
      : fieldError(create.error, 'name');

  function submit(): void {
    setSent(true);
    if (!roleNameProblem(name.trim())) create.mutate();
  }

  return (
    <Dialog
      title={roles.newTitle}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" look="primary" isBusy={create.isPending}>
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
          create.reset();
        }}
      />
      <TextArea
        label={roles.description}
        error={fieldError(create.error, 'description')}
        maxLength={500}
        rows={2}
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      {mcpPermissions.map((bit) => (
        <Switch
          key={bit}
          label={roles.permissions[bit].name}
          hint={roles.permissions[bit].allows}
          isOn={bits[bit]}
          onChange={(isOn) => setBits({ ...bits, [bit]: isOn })}
        />
      ))}
      {create.error && !isTaken && !isAboutFields(create.error, ['name', 'description']) && (
        <ErrorNotice error={create.error} />
      )}
    </Dialog>
  );
}
