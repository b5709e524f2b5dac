import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { importToken } from '../../api/credentials.ts';
import { fieldErrorText, hasOnlyFieldErrors } from '../../api/explain.ts';
import { invalidateServers } from '../../api/servers.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import styles from './credentials.module.css';
import {
  emptyTokenDraft,
  findTokenProblems,
  toTokenRequest,
  type TokenField,
  type TokenProblems,
} from './tokenDraft.ts';

const fields = Object.keys(emptyTokenDraft) as TokenField[];

/** Imports a token for a server where the user cannot or need not sign in. */
export function ImportToken({ server }: { readonly server: string }) {
  const words = strings.credentials;
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState(emptyTokenDraft);
  const [problems, setProblems] = useState<TokenProblems>({});
  const importMutation = useMutation({
    mutationFn: () => importToken(server, toTokenRequest(draft)),
    onSuccess: () => {
      setDraft(emptyTokenDraft);
      showToast('success', words.tokenSaved);
      return invalidateServers(queryClient);
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const foundProblems = findTokenProblems(draft);
    setProblems(foundProblems);
    if (Object.keys(foundProblems).length === 0) importMutation.mutate();
  }

  const getFieldProps = (name: TokenField) => ({
    value: draft[name],
    error: problems[name] ?? fieldErrorText(importMutation.error, name),
    autoComplete: 'off',
    spellCheck: false,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => {
      setDraft({ ...draft, [name]: target.value });
      setProblems({ ...problems, [name]: undefined });
    },
  });
  const secretProps = { type: 'password', autoComplete: 'new-password' } as const;
  return (
    <details className={styles['bring']}>
      <summary>{words.useToken}</summary>
      <form className={styles['form']} onSubmit={submit} noValidate autoComplete="off">
        <p className={styles['muted']}>{words.useTokenText}</p>
        <TextField label={words.token} isRequired {...getFieldProps('accessToken')} {...secretProps} />
        <TextField label={words.label} hint={words.labelHint} {...getFieldProps('label')} />
        <details className={styles['more']}>
          <summary>{words.tokenOptions}</summary>
          <div className={styles['form']}>
            <TextField label={words.expiresIn} inputMode="numeric" {...getFieldProps('expiresIn')} />
            <TextField
              label={words.refreshToken}
              hint={words.refreshTokenHint}
              {...getFieldProps('refreshToken')}
              {...secretProps}
            />
            <TextField label={words.issuer} hint={words.issuerHint} {...getFieldProps('issuer')} />
            <TextField label={words.clientId} hint={words.clientIdHint} {...getFieldProps('clientId')} />
          </div>
        </details>
        {importMutation.error !== null && !hasOnlyFieldErrors(importMutation.error, fields) && (
          <ErrorNotice error={importMutation.error} />
        )}
        <div className={styles['actions']}>
          <Button type="submit" isBusy={importMutation.isPending}>
            {words.saveToken}
          </Button>
        </div>
      </form>
    </details>
  );
}
