import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { importToken } from '../../api/credentials.ts';
import { fieldErrorText, hasOnlyFieldErrors } from '../../api/fieldErrors.ts';
import { invalidateServers } from '../../api/servers.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { showToast } from '../../ui/toasts.ts';
import styles from './credentials.module.css';
import {
  emptyToken,
  tokenProblems,
  tokenRequest,
  type TokenField,
  type TokenProblems,
} from './tokenDraft.ts';

const fields = Object.keys(emptyToken) as TokenField[];

/** A token that somebody was given elsewhere, for a server where they cannot or need not sign in. */
export function ImportToken({ server }: { readonly server: string }) {
  const words = strings.credentials;
  const client = useQueryClient();
  const [draft, setDraft] = useState(emptyToken);
  const [problems, setProblems] = useState<TokenProblems>({});
  const storing = useMutation({
    mutationFn: () => importToken(server, tokenRequest(draft)),
    onSuccess: () => {
      setDraft(emptyToken);
      showToast('success', words.tokenSaved);
      return invalidateServers(client);
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const foundProblems = tokenProblems(draft);
    setProblems(foundProblems);
    if (Object.keys(foundProblems).length === 0) storing.mutate();
  }

  const fieldProps = (name: TokenField) => ({
    value: draft[name],
    error: problems[name] ?? fieldErrorText(storing.error, name),
    autoComplete: 'off',
    spellCheck: false,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => {
      setDraft({ ...draft, [name]: target.value });
      setProblems({ ...problems, [name]: undefined });
    },
  });
  const secret = { type: 'password', autoComplete: 'new-password' } as const;
  return (
    <details className={styles['bring']}>
      <summary>{words.useToken}</summary>
      <form className={styles['form']} onSubmit={submit} noValidate autoComplete="off">
        <p className={styles['muted']}>{words.useTokenText}</p>
        <TextField label={words.token} isRequired {...fieldProps('accessToken')} {...secret} />
        <TextField label={words.label} hint={words.labelHint} {...fieldProps('label')} />
        <details className={styles['more']}>
          <summary>{words.tokenOptions}</summary>
          <div className={styles['form']}>
            <TextField label={words.expiresIn} inputMode="numeric" {...fieldProps('expiresIn')} />
            <TextField
              label={words.refreshToken}
              hint={words.refreshHint}
              {...fieldProps('refreshToken')}
              {...secret}
            />
            <TextField label={words.issuer} hint={words.issuerHint} {...fieldProps('issuer')} />
            <TextField label={words.clientId} hint={words.clientHint} {...fieldProps('clientId')} />
          </div>
        </details>
        {storing.error !== null && !hasOnlyFieldErrors(storing.error, fields) && (
          <ErrorNotice error={storing.error} />
        )}
        <div className={styles['actions']}>
          <Button type="submit" isBusy={storing.isPending}>
            {words.saveToken}
          </Button>
        </div>
      </form>
    </details>
  );
}
