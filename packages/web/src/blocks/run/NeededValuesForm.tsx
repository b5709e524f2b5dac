import type { CredentialNeed } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { fieldErrorText, hasOnlyFieldErrors } from '../../api/fieldErrors.ts';
import { invalidateServers, setValues } from '../../api/servers.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { showToast } from '../../ui/toasts.ts';
import styles from './BlockRunner.module.css';

type Values = Extract<CredentialNeed, { kind: 'values' }>['values'];

/** The values that a server still wants of its user, entered where they are missed. */
export function NeededValuesForm({
  server,
  values,
  onSaved,
}: {
  readonly server: string;
  readonly values: Values;
  readonly onSaved: () => void;
}) {
  const words = strings.blocks.needs;
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState<Readonly<Record<string, string>>>({});
  const [hasSubmitted, setHasSubmitted] = useState(false);
  const isEmpty = (name: string) => (draft[name] ?? '').trim() === '';
  const saveMutation = useMutation({
    mutationFn: () => setValues(server, draft),
    onSuccess: async () => {
      showToast('success', words.valuesSaved);
      await invalidateServers(queryClient);
      onSaved();
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setHasSubmitted(true);
    if (!values.some(({ name }) => isEmpty(name))) saveMutation.mutate();
  }

  const paths = values.flatMap(({ name }) => [name, `auth.${name}`]);
  return (
    <form className={styles['values']} onSubmit={submit} noValidate autoComplete="off">
      <p>{words.values}</p>
      <p className={styles['muted']}>{words.valuesText}</p>
      {values.map(({ name, title, description, sensitive }) => (
        <TextField
          key={name}
          label={title}
          hint={description}
          isRequired
          type={sensitive ? 'password' : 'text'}
          autoComplete={sensitive ? 'new-password' : 'off'}
          spellCheck={false}
          error={
            hasSubmitted && isEmpty(name)
              ? words.valueMissing
              : (fieldErrorText(saveMutation.error, name) ??
                fieldErrorText(saveMutation.error, `auth.${name}`))
          }
          value={draft[name] ?? ''}
          onChange={({ target }) => setDraft({ ...draft, [name]: target.value })}
        />
      ))}
      {saveMutation.error !== null && !hasOnlyFieldErrors(saveMutation.error, paths) && (
        <ErrorNotice error={saveMutation.error} />
      )}
      <div>
        <Button type="submit" isBusy={saveMutation.isPending}>
          {words.valuesSave}
        </Button>
      </div>
    </form>
  );
}
