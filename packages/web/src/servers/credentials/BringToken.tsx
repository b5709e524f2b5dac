import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { bringToken } from '../../api/credentials.ts';
import { fieldError, isAboutFields } from '../../api/fieldErrors.ts';
import { serversChanged } from '../../api/servers.ts';
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
export function BringToken({ server }: { readonly server: string }) {
  const words = strings.credentials;
  const client = useQueryClient();
  const [draft, setDraft] = useState(emptyToken);
  const [problems, setProblems] = useState<TokenProblems>({});
  const storing = useMutation({
    mutationFn: () => bringToken(server, tokenRequest(draft)),
    onSuccess: () => {
      setDraft(emptyToken);
      showToast('success', words.stored);
      return serversChanged(client);
    },
  });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const found = tokenProblems(draft);
    setProblems(found);
    if (Object.keys(found).length === 0) storing.mutate();
  }

  const wiring = (name: TokenField) => ({
    value: draft[name],
    error: problems[name] ?? fieldError(storing.error, name),
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
      <summary>{words.bring}</summary>
      <form className={styles['form']} onSubmit={submit} noValidate autoComplete="off">
        <p className={styles['muted']}>{words.bringText}</p>
        <TextField label={words.token} isRequired {...wiring('accessToken')} {...secret} />
        <TextField label={words.label} hint={words.labelHint} {...wiring('label')} />
        <details className={styles['more']}>
          <summary>{words.more}</summary>
          <div className={styles['form']}>
            <TextField label={words.expiresIn} inputMode="numeric" {...wiring('expiresIn')} />
            <TextField
              label={words.refreshToken}
              hint={words.refreshHint}
              {...wiring('refreshToken')}
              {...secret}
            />
            <TextField label={words.issuer} hint={words.issuerHint} {...wiring('issuer')} />
            <TextField label={words.clientId} hint={words.clientHint} {...wiring('clientId')} />
          </div>
        </details>
        {storing.error !== null && !isAboutFields(storing.error, fields) && (
          <ErrorNotice error={storing.error} />
        )}
        <div className={styles['actions']}>
          <Button type="submit" isBusy={storing.isPending}>
            {words.store}
          </Button>
        </div>
      </form>
    </details>
  );
}
