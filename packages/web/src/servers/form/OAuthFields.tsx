import { secretMask } from '@behalf/contracts/plain';
import { strings } from '../../strings/strings.ts';
import { SelectField, Switch, TextField } from '../../ui/Field.tsx';
import type { FormSectionProps } from './formSectionProps.ts';
import styles from './ServerDialog.module.css';
import { exchangeMethods, type ServerForm } from './serverForm.ts';

type OAuthForm = ServerForm['oauth'];
type TextKey = 'clientId' | 'authorizationUrl' | 'tokenUrl' | 'revocationUrl' | 'scope';

/** How users sign in there. What is left empty is discovered. */
export function OAuthFields({ form, before, problems, change }: FormSectionProps) {
  const words = strings.servers.form;
  const { oauth } = form;
  // Nobody is told whether there is one.
  const mayHaveStoredSecret = before?.oauth !== undefined;
  const set = (patch: Partial<OAuthForm>, ...fields: readonly string[]) =>
    change({ oauth: { ...oauth, ...patch } }, ...fields);
  const fieldProps = (key: TextKey, field: string) => ({
    error: problems[`oauth.${field}`],
    value: oauth[key],
    autoComplete: 'off',
    spellCheck: false,
    onChange: ({ target }: { readonly target: HTMLInputElement }) =>
      set({ [key]: target.value }, `oauth.${field}`, 'auth'),
  });
  return (
    <div className={styles['section']}>
      <div className={styles['pair']}>
        <TextField
          label={words.clientId}
          hint={words.clientIdHint}
          {...fieldProps('clientId', 'client_id')}
        />
        <TextField
          label={words.clientSecret}
          hint={mayHaveStoredSecret ? words.secretUnknown : words.clientSecretHint}
          error={problems['oauth.client_secret']}
          type="password"
          autoComplete="new-password"
          spellCheck={false}
          disabled={oauth.removesSecret}
          placeholder={mayHaveStoredSecret && !oauth.removesSecret ? secretMask : undefined}
          value={oauth.clientSecret}
          onChange={({ target }) => set({ clientSecret: target.value }, 'oauth.client_secret', 'auth')}
        />
      </div>
      {mayHaveStoredSecret && (
        <Switch
          label={words.removeSecret}
          isOn={oauth.removesSecret}
          onChange={(dropsSecret) =>
            set({ removesSecret: dropsSecret, clientSecret: '' }, 'oauth.client_secret', 'auth')
          }
        />
      )}
      <TextField label={words.scope} hint={words.scopeHint} {...fieldProps('scope', 'scope')} />
      <div className={styles['pair']}>
        <TextField
          label={words.authorizationUrl}
          hint={words.discoveredHint}
          type="url"
          {...fieldProps('authorizationUrl', 'authorization_url')}
        />
        <TextField
          label={words.tokenUrl}
          hint={words.discoveredHint}
          type="url"
          {...fieldProps('tokenUrl', 'token_url')}
        />
      </div>
      <div className={styles['pair']}>
        <TextField
          label={words.revocationUrl}
          hint={words.discoveredHint}
          type="url"
          {...fieldProps('revocationUrl', 'revocation_endpoint')}
        />
        <SelectField
          label={words.exchangeMethod}
          error={problems['oauth.token_exchange_method']}
          value={oauth.exchangeMethod}
          onChange={({ target }) =>
            set(
              { exchangeMethod: target.value as OAuthForm['exchangeMethod'] },
              'oauth.token_exchange_method',
            )
          }
        >
          {exchangeMethods.map((method) => (
            <option key={method} value={method}>
              {words.exchangeMethods[method]}
            </option>
          ))}
        </SelectField>
      </div>
    </div>
  );
}
