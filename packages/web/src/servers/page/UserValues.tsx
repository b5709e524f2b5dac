import type { ServerView } from '@behalf/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { ApiError } from '../../api/apiError.ts';
import { authValuesQuery, deleteValues, invalidateServers, setValues } from '../../api/servers.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { showError, showToast } from '../../ui/toasts.ts';
import styles from './UserValues.module.css';
import { ValueField } from './ValueField.tsx';

type Variables = NonNullable<ServerView['customUserVars']>;

/** What the server wants of each user. Values go in, and are never shown again: only whether they are there. */
export function UserValues({
  name,
  variables,
  onChanged,
}: {
  readonly name: string;
  readonly variables: Variables;
  readonly onChanged: () => void;
}) {
  const text = strings.servers;
  const client = useQueryClient();
  const { data: flags, error: flagsError, refetch } = useQuery(authValuesQuery(name));
  const [draft, setDraft] = useState<Readonly<Record<string, string>>>({});
  const [isEmpty, setEmpty] = useState(false);
  const [isClearing, setClearing] = useState(false);
  const enteredValues = Object.fromEntries(Object.entries(draft).filter(([, value]) => value.trim() !== ''));

  function handleChange(): Promise<void> {
    onChanged();
    return invalidateServers(client);
  }

  const saving = useMutation({
    mutationFn: () => setValues(name, enteredValues),
    onSuccess: () => {
      setDraft({});
      showToast('success', text.valuesSaved);
      return handleChange();
    },
  });
  const clearing = useMutation({
    mutationFn: (variableNames: readonly string[]) => deleteValues(name, variableNames),
    onSuccess: (_none, [single]) => {
      setClearing(false);
      const label = single === undefined ? undefined : (variables[single]?.title ?? single);
      showToast('success', label === undefined ? text.valuesCleared : text.valueCleared(label));
      return handleChange();
    },
    onError: (error, variableNames) => {
      if (variableNames.length > 0) showError(error);
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setEmpty(Object.keys(enteredValues).length === 0);
    if (Object.keys(enteredValues).length > 0) saving.mutate();
  }

  const problems = saving.error instanceof ApiError ? saving.error.errors : [];
  // A value that is refused for its form alone is named by its place in the request.
  const fieldErrorOf = (variable: string) =>
    problems.find(({ path }) => path === variable || path === `auth.${variable}`)?.message;
  const hasFieldErrors = Object.keys(variables).some((variable) => fieldErrorOf(variable) !== undefined);
  const isAnySet = Object.values(flags ?? {}).some(Boolean);
  return (
    <Card className={styles['card']}>
      <h2>{text.valuesTitle}</h2>
      <p className={styles['muted']}>{text.valuesText}</p>
      {flagsError !== null && <ErrorNotice error={flagsError} onRetry={() => void refetch()} />}
      <form className={styles['form']} onSubmit={submit} noValidate autoComplete="off">
        {Object.entries(variables).map(([variable, definition]) => (
          <ValueField
            key={variable}
            definition={definition}
            isSet={flags?.[variable]}
            value={draft[variable] ?? ''}
            error={fieldErrorOf(variable)}
            isBusy={clearing.isPending && clearing.variables[0] === variable}
            onChange={(value) => {
              setEmpty(false);
              setDraft({ ...draft, [variable]: value });
            }}
            onClear={() => clearing.mutate([variable])}
          />
        ))}
        {isEmpty && (
          <p className={styles['empty']} role="alert">
            {text.valuesEmpty}
          </p>
        )}
        {saving.error !== null && !hasFieldErrors && <ErrorNotice error={saving.error} />}
        <div className={styles['actions']}>
          <Button type="submit" variant="primary" isBusy={saving.isPending}>
            {text.valuesSave}
          </Button>
          {isAnySet && <Button onClick={() => setClearing(true)}>{text.valuesClearAll}</Button>}
        </div>
      </form>
      {isClearing && (
        <ConfirmDialog
          title={text.valuesClearAllTitle}
          confirm={text.valuesClearAll}
          isBusy={clearing.isPending}
          error={clearing.error}
          onConfirm={() => clearing.mutate([])}
          onClose={() => setClearing(false)}
        >
          {text.valuesClearAllText}
        </ConfirmDialog>
      )}
    </Card>
  );
}
