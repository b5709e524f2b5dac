import { apiKeyScopes, type ApiKeyScope } from '@behalf/contracts/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { createKey, keysQuery } from '../api/account.ts';
import { fieldErrorText, hasOnlyFieldErrors } from '../api/fieldErrors.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { TextField } from '../ui/Field.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { MOST_DAYS, readDays, USUAL_DAYS } from './keyLife.ts';
import { KeyShownOnce } from './KeyShownOnce.tsx';
import styles from './NewKeyDialog.module.css';

/** Makes a key, and shows it the one time that it can be shown. */
export function NewKeyDialog({
  isAdmin,
  onClose,
}: {
  readonly isAdmin: boolean;
  readonly onClose: () => void;
}) {
  const { keys } = strings.settings;
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly ApiKeyScope[]>(['mcp']);
  const [days, setDays] = useState(String(USUAL_DAYS));
  const [wasSent, setSent] = useState(false);
  const expiresInDays = readDays(days);
  const isComplete = name.trim() !== '' && scopes.length > 0 && expiresInDays !== undefined;
  const create = useMutation({
    mutationFn: () =>
      createKey({ name: name.trim(), scopes: [...scopes], expiresInDays: expiresInDays ?? USUAL_DAYS }),
    onSuccess: () => client.invalidateQueries({ queryKey: keysQuery.queryKey }),
    // The key is not kept in memory once the dialog is gone.
    gcTime: 0,
  });

  function submit(): void {
    setSent(true);
    if (isComplete) create.mutate();
  }

  if (create.data) return <KeyShownOnce apiKey={create.data} onClose={onClose} />;

  const missing = (isMissing: boolean, words: string, path: string) =>
    wasSent && isMissing ? words : fieldErrorText(create.error, path);
  return (
    <Dialog
      title={keys.newTitle}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" variant="primary" isBusy={create.isPending}>
            {keys.create}
          </Button>
        </>
      }
    >
      <TextField
        label={keys.name}
        hint={keys.nameHint}
        error={missing(name.trim() === '', keys.nameMissing, 'name')}
        isRequired
        maxLength={100}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <ScopeChoice
        offered={apiKeyScopes.filter((scope) => isAdmin || scope !== 'admin')}
        chosen={scopes}
        error={missing(scopes.length === 0, keys.scopesMissing, 'scopes')}
        onChange={setScopes}
      />
      <TextField
        label={keys.days}
        hint={keys.daysHint(MOST_DAYS)}
        error={missing(expiresInDays === undefined, keys.daysWrong(MOST_DAYS), 'expiresInDays')}
        isRequired
        inputMode="numeric"
        value={days}
        onChange={(event) => setDays(event.target.value)}
      />
      {create.error && !hasOnlyFieldErrors(create.error, ['name', 'scopes', 'expiresInDays']) && (
        <ErrorNotice error={create.error} />
      )}
    </Dialog>
  );
}

function ScopeChoice({
  offered,
  chosen,
  error,
  onChange,
}: {
  readonly offered: readonly ApiKeyScope[];
  readonly chosen: readonly ApiKeyScope[];
  readonly error: string | undefined;
  readonly onChange: (scopes: ApiKeyScope[]) => void;
}) {
  const { keys } = strings.settings;
  const id = useId();
  return (
    <fieldset className={styles['scopes']} aria-describedby={error === undefined ? undefined : id}>
      <legend className={styles['legend']}>{keys.scopes}</legend>
      {offered.map((scope) => (
        <label key={scope} className={styles['scope']}>
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={({ target }) =>
              onChange(offered.filter((other) => (other === scope ? target.checked : chosen.includes(other))))
            }
          />
          <span>
            <code>{scope}</code> {keys.scopeWords[scope]}
          </span>
        </label>
      ))}
      {error !== undefined && (
        <p id={id} className={styles['error']}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
