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
export function NeedValues({
  server,
  values,
  onMet,
}: {
  readonly server: string;
  readonly values: Values;
  readonly onMet: () => void;
}) {
  const words = strings.blocks.needs;
  const client = useQueryClient();
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [isTried, setTried] = useState(false);
  const isEmpty = (name: string) => (typed[name] ?? '').trim() === '';
  const saving = useMutation({
    mutationFn: () => setValues(server, typed),
    onSuccess: async () => {
      showToast('success', words.valuesSaved);
      await invalidateServers(client);
      onMet();
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setTried(true);
    if (!values.some(({ name }) => isEmpty(name))) saving.mutate();
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
            isTried && isEmpty(name)
              ? words.valueMissing
              : (fieldErrorText(saving.error, name) ?? fieldErrorText(saving.error, `auth.${name}`))
          }
          value={typed[name] ?? ''}
          onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
        />
      ))}
      {saving.error !== null && !hasOnlyFieldErrors(saving.error, paths) && (
        <ErrorNotice error={saving.error} />
      )}
      <div>
        <Button type="submit" isBusy={saving.isPending}>
          {words.valuesSave}
        </Button>
      </div>
    </form>
  );
}
