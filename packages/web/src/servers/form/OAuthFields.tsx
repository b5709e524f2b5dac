import { secretMask } from '@behalf/contracts/plain';
import { strings } from '../../strings/strings.ts';
import { SelectField, Switch, TextField } from '../../ui/Field.tsx';
import type { FormParts } from './formParts.ts';
import styles from './ServerDialog.module.css';
import { exchangeMethods, type ServerForm } from './serverForm.ts';

type OAuthForm = ServerForm['oauth'];
type TextKey = 'clientId' | 'authorizationUrl' | 'tokenUrl' | 'revocationUrl' | 'scope';

/** How users sign in there. What is left empty is discovered. */
export function OAuthFields({ form, before, problems, change }: FormParts) {
  const text = strings.servers.form;
  const { oauth } = form;
  // Nobody is told whether there is one.
  const mayBeStored = before?.oauth !== undefined;
  const set = (patch: Partial<OAuthForm>, ...fields: readonly string[]) =>
    change({ oauth: { ...oauth, ...patch } }, ...fields);
  const wire = (key: TextKey, field: string) => ({
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
        <TextField label={text.clientId} hint={text.clientIdHint} {...wire('clientId', 'client_id')} />
        <TextField
          label={text.clientSecret}
          hint={mayBeStored ? text.secretUnknown : text.clientSecretHint}
          error={problems['oauth.client_secret']}
          type="password"
          autoComplete="new-password"
          spellCheck={false}
          disabled={oauth.dropsSecret}
          placeholder={mayBeStored && !oauth.dropsSecret ? secretMask : undefined}
          value={oauth.clientSecret}
          onChange={({ target }) => set({ clientSecret: target.value }, 'oauth.client_secret', 'auth')}
        />
      </div>
      {mayBeStored && (
        <Switch
          label={text.dropSecret}
          isOn={oauth.dropsSecret}
          onChange={(dropsSecret) => set({ dropsSecret, clientSecret: '' }, 'oauth.client_secret', 'auth')}
        />
      )}
      <TextField label={text.scope} hint={text.scopeHint} {...wire('scope', 'scope')} />
      <div className={styles['pair']}>
        <TextField
          label={text.authorizationUrl}
          hint={text.discovered}
          type="url"
          {...wire('authorizationUrl', 'authorization_url')}
        />
        <TextField
          label={text.tokenUrl}
          hint={text.discovered}
          type="url"
          {...wire('tokenUrl', 'token_url')}
        />
      </div>
      <div className={styles['pair']}>
        <TextField
          label={text.revocationUrl}
          hint={text.discovered}
          type="url"
          {...wire('revocationUrl', 'revocation_endpoint')}
        />
        <SelectField
          label={text.exchangeMethod}
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
              {text.exchangeMethods[method]}
            </option>
          ))}
        </SelectField>
      </div>
    </div>
  );
}
