import { apiKeyScopes, type ApiKeyScope } from '@behalf/contracts/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { createKey, keysQuery } from '../api/user.ts';
import { fieldErrorText, hasOnlyFieldErrors } from '../api/explain.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { TextField } from '../ui/Field.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { MAX_DAYS, parseDays, DEFAULT_DAYS } from './keyExpiry.ts';
import { CreatedKeyDialog } from './CreatedKeyDialog.tsx';
import styles from './CreateKeyDialog.module.css';

/** Creates a key and shows it once. */
export function CreateKeyDialog({
  isAdmin,
  onClose,
}: {
  readonly isAdmin: boolean;
  readonly onClose: () => void;
}) {
  const { keys } = strings.settings;
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly ApiKeyScope[]>(['mcp']);
  const [days, setDays] = useState(String(DEFAULT_DAYS));
  const [hasSubmitted, setHasSubmitted] = useState(false);
  const expiresInDays = parseDays(days);
  const isComplete = name.trim() !== '' && scopes.length > 0 && expiresInDays !== undefined;
  const createMutation = useMutation({
    mutationFn: () =>
      createKey({ name: name.trim(), scopes: [...scopes], expiresInDays: expiresInDays ?? DEFAULT_DAYS }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey }),
    // Removes the key from memory when the dialog closes.
    gcTime: 0,
  });

  function submit(): void {
    setHasSubmitted(true);
    if (isComplete) createMutation.mutate();
  }

  if (createMutation.data) return <CreatedKeyDialog apiKey={createMutation.data} onClose={onClose} />;

  const fieldMessage = (isMissing: boolean, words: string, path: string) =>
    hasSubmitted && isMissing ? words : fieldErrorText(createMutation.error, path);
  return (
    <Dialog
      title={keys.newTitle}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" variant="primary" isBusy={createMutation.isPending}>
            {keys.create}
          </Button>
        </>
      }
    >
      <TextField
        label={keys.name}
        hint={keys.nameHint}
        error={fieldMessage(name.trim() === '', keys.nameMissing, 'name')}
        isRequired
        maxLength={100}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <ScopeChoice
        availableScopes={apiKeyScopes.filter((scope) => isAdmin || scope !== 'admin')}
        selectedScopes={scopes}
        error={fieldMessage(scopes.length === 0, keys.scopesMissing, 'scopes')}
        onChange={setScopes}
      />
      <TextField
        label={keys.expiresAfter}
        hint={keys.expiresAfterHint(MAX_DAYS)}
        error={fieldMessage(expiresInDays === undefined, keys.expiresAfterInvalid(MAX_DAYS), 'expiresInDays')}
        isRequired
        inputMode="numeric"
        value={days}
        onChange={(event) => setDays(event.target.value)}
      />
      {createMutation.error &&
        !hasOnlyFieldErrors(createMutation.error, ['name', 'scopes', 'expiresInDays']) && (
          <ErrorNotice error={createMutation.error} />
        )}
    </Dialog>
  );
}

function ScopeChoice({
  availableScopes,
  selectedScopes,
  error,
  onChange,
}: {
  readonly availableScopes: readonly ApiKeyScope[];
  readonly selectedScopes: readonly ApiKeyScope[];
  readonly error: string | undefined;
  readonly onChange: (scopes: ApiKeyScope[]) => void;
}) {
  const { keys } = strings.settings;
  const id = useId();
  return (
    <fieldset className={styles['scopes']} aria-describedby={error === undefined ? undefined : id}>
      <legend className={styles['legend']}>{keys.scopes}</legend>
      {availableScopes.map((scope) => (
        <label key={scope} className={styles['scope']}>
          <input
            type="checkbox"
            checked={selectedScopes.includes(scope)}
            onChange={({ target }) =>
              onChange(
                availableScopes.filter((other) =>
                  other === scope ? target.checked : selectedScopes.includes(other),
                ),
              )
            }
          />
          <span>
            <code>{scope}</code> {keys.scopeTexts[scope]}
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
