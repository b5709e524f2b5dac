import type { ServerView } from '@behalf/contracts';
import { secretMask } from '@behalf/contracts/plain';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { ApiError } from '../../api/request.ts';
import { authValuesQuery, deleteValues, invalidateServers, setValues } from '../../api/servers.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { showError, showToast } from '../../ui/Toasts.tsx';
import styles from './UserValues.module.css';

type VariableDefinitions = NonNullable<ServerView['customUserVars']>;

/** The variables that the server requires of each user. Stored values are never shown. */
export function UserValues({
  serverName,
  variables,
  onChanged,
}: {
  readonly serverName: string;
  readonly variables: VariableDefinitions;
  readonly onChanged: () => void;
}) {
  const words = strings.servers;
  const queryClient = useQueryClient();
  const { data: valueFlags, error: valueFlagsError, refetch } = useQuery(authValuesQuery(serverName));
  const [draft, setDraft] = useState<Readonly<Record<string, string>>>({});
  const [isSubmittedEmpty, setSubmittedEmpty] = useState(false);
  const [isConfirmingClear, setConfirmingClear] = useState(false);
  const enteredValues = Object.fromEntries(Object.entries(draft).filter(([, value]) => value.trim() !== ''));

  function refreshAfterChange(): Promise<void> {
    onChanged();
    return invalidateServers(queryClient);
  }

  const saveMutation = useMutation({
    mutationFn: () => setValues(serverName, enteredValues),
    onSuccess: () => {
      setDraft({});
      showToast('success', words.valuesSaved);
      return refreshAfterChange();
    },
  });
  const clearMutation = useMutation({
    mutationFn: (variableNames: readonly string[]) => deleteValues(serverName, variableNames),
    onSuccess: (_none, [singleVariable]) => {
      setConfirmingClear(false);
      const label =
        singleVariable === undefined ? undefined : (variables[singleVariable]?.title ?? singleVariable);
      showToast('success', label === undefined ? words.valuesCleared : words.valueCleared(label));
      return refreshAfterChange();
    },
    onError: (error, variableNames) => {
      if (variableNames.length > 0) showError(error);
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    setSubmittedEmpty(Object.keys(enteredValues).length === 0);
    if (Object.keys(enteredValues).length > 0) saveMutation.mutate();
  }

  const fieldErrors = saveMutation.error instanceof ApiError ? saveMutation.error.errors : [];
  // Validation errors name the position in the request.
  const findFieldError = (variable: string) =>
    fieldErrors.find(({ path }) => path === variable || path === `auth.${variable}`)?.message;
  const hasFieldErrors = Object.keys(variables).some((variable) => findFieldError(variable) !== undefined);
  const hasAnyValue = Object.values(valueFlags ?? {}).some(Boolean);
  return (
    <Card className={styles['card']}>
      <h2>{words.valuesTitle}</h2>
      <p className={styles['muted']}>{words.valuesText}</p>
      {valueFlagsError !== null && <ErrorNotice error={valueFlagsError} onRetry={() => void refetch()} />}
      <form className={styles['form']} onSubmit={submit} noValidate autoComplete="off">
        {Object.entries(variables).map(([variable, definition]) => (
          <ValueField
            key={variable}
            definition={definition}
            isSet={valueFlags?.[variable]}
            value={draft[variable] ?? ''}
            error={findFieldError(variable)}
            isBusy={clearMutation.isPending && clearMutation.variables[0] === variable}
            onChange={(value) => {
              setSubmittedEmpty(false);
              setDraft({ ...draft, [variable]: value });
            }}
            onClear={() => clearMutation.mutate([variable])}
          />
        ))}
        {isSubmittedEmpty && (
          <p className={styles['empty']} role="alert">
            {words.valuesEmpty}
          </p>
        )}
        {saveMutation.error !== null && !hasFieldErrors && <ErrorNotice error={saveMutation.error} />}
        <div className={styles['actions']}>
          <Button type="submit" variant="primary" isBusy={saveMutation.isPending}>
            {words.valuesSave}
          </Button>
          {hasAnyValue && <Button onClick={() => setConfirmingClear(true)}>{words.valuesClearAll}</Button>}
        </div>
      </form>
      {isConfirmingClear && (
        <ConfirmDialog
          title={words.valuesClearAllTitle}
          confirm={words.valuesClearAll}
          isBusy={clearMutation.isPending}
          error={clearMutation.error}
          onConfirm={() => clearMutation.mutate([])}
          onClose={() => setConfirmingClear(false)}
        >
          {words.valuesClearAllText}
        </ConfirmDialog>
      )}
    </Card>
  );
}

type UserVariable = NonNullable<ServerView['customUserVars']>[string];

/** A variable: whether it is set, a field for a new value, and a button to remove it. */
function ValueField({
  definition: { title, description, sensitive },
  isSet,
  value,
  error,
  isBusy,
  onChange,
  onClear,
}: {
  readonly definition: UserVariable;
  /** Undefined while unknown. */
  readonly isSet: boolean | undefined;
  readonly value: string;
  readonly error: string | undefined;
  readonly isBusy: boolean;
  readonly onChange: (value: string) => void;
  readonly onClear: () => void;
}) {
  const words = strings.servers;
  return (
    <div className={styles['value']}>
      <TextField
        label={title}
        hint={isSet ? [description, words.valueStored].filter(Boolean).join(' ') : description}
        error={error}
        type={sensitive ? 'password' : 'text'}
        autoComplete={sensitive ? 'new-password' : 'off'}
        spellCheck={false}
        placeholder={isSet ? secretMask : undefined}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <p className={styles['flag']}>
        {isSet !== undefined && (
          <Badge tone={isSet ? 'success' : 'warning'}>{isSet ? words.valueSet : words.valueMissing}</Badge>
        )}
        {isSet && (
          <Button
            size="small"
            variant="quiet"
            isBusy={isBusy}
            aria-label={words.valueClearOf(title)}
            onClick={onClear}
          >
            {words.valueClear}
          </Button>
        )}
      </p>
    </div>
  );
}
