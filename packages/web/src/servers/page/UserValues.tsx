import type { ServerView } from '@behalf/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { ApiError } from '../../api/apiError.ts';
import { authValuesQuery, clearValues, serversChanged, setValues } from '../../api/servers.ts';
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
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [isEmpty, setEmpty] = useState(false);
  const [isClearing, setClearing] = useState(false);
  const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value.trim() !== ''));

  function changed(): Promise<void> {
    onChanged();
    return serversChanged(client);
  }

  const saving = useMutation({
    mutationFn: () => setValues(name, given),
    onSuccess: () => {
      setTyped({});
      showToast('success', text.valuesSaved);
      return changed();
    },
  });
  const clearing = useMutation({
    mutationFn: (cleared: readonly string[]) => clearValues(name, cleared),
    onSuccess: (_none, [only]) => {
      setClearing(false);
      const label = only === undefined ? undefined : (variables[only]?.title ?? only);
      showToast('success', label === undefined ? text.valuesCleared : text.valueCleared(label));
      return changed();
    },
    onError: (error, cleared) => {
      if (cleared.length > 0) showError(error);
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setEmpty(Object.keys(given).length === 0);
    if (Object.keys(given).length > 0) saving.mutate();
  }

  const problems = saving.error instanceof ApiError ? saving.error.errors : [];
  // A value that is refused for its form alone is named by its place in the request.
  const problemOf = (variable: string) =>
    problems.find(({ path }) => path === variable || path === `auth.${variable}`)?.message;
  const isToldAtFields = Object.keys(variables).some((variable) => problemOf(variable) !== undefined);
  const isAnySet = Object.values(flags ?? {}).some(Boolean);
  return (
    <Card className={styles['card']}>
      <h2>{text.valuesTitle}</h2>
      <p className={styles['muted']}>{text.valuesText}</p>
      {flagsError !== null && <ErrorNotice error={flagsError} onRetry={() => void refetch()} />}
      <form className={styles['form']} onSubmit={submit} noValidate autoComplete="off">
        {Object.entries(variables).map(([variable, described]) => (
          <ValueField
            key={variable}
            described={described}
            isSet={flags?.[variable]}
            value={typed[variable] ?? ''}
            error={problemOf(variable)}
            isBusy={clearing.isPending && clearing.variables[0] === variable}
            onChange={(value) => {
              setEmpty(false);
              setTyped({ ...typed, [variable]: value });
            }}
            onClear={() => clearing.mutate([variable])}
          />
        ))}
        {isEmpty && (
          <p className={styles['empty']} role="alert">
            {text.valuesEmpty}
          </p>
        )}
        {saving.error !== null && !isToldAtFields && <ErrorNotice error={saving.error} />}
        <div className={styles['actions']}>
          <Button type="submit" look="primary" isBusy={saving.isPending}>
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
