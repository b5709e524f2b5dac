import { secretMask } from '@behalf/contracts/plain';
import { strings } from '../../strings/strings.ts';
import { SelectField, Switch, TextField } from '../../ui/Field.tsx';
import { Notice } from '../../ui/Notice.tsx';
import styles from './ServerDialog.module.css';
import {
  type AuthKind,
  type ServerForm,
  authKinds,
  exchangeMethods,
  isCompatible,
  keepsStoredKey,
  keyForms,
  keySources,
} from './serverForm.ts';
import type { FormSectionProps } from './useServerDialog.ts';

/** The authentication of a server. On-Behalf-Of is offered if the user's role may configure it. */
export function AuthFields({
  canConfigureObo,
  isLocked,
  ...parts
}: FormSectionProps & { readonly canConfigureObo: boolean; readonly isLocked: boolean }) {
  const words = strings.servers.form;
  const { form, problems, change } = parts;
  const { auth } = form;
  const isForbidden = auth === 'obo' && !canConfigureObo && !isLocked;
  return (
    <>
      <SelectField
        label={words.auth}
        hint={words.authHints[auth]}
        error={isForbidden ? words.oboPermissionLost : problems['auth']}
        value={auth}
        onChange={({ target }) => change({ auth: target.value as AuthKind }, 'auth', 'url')}
      >
        {authKinds
          .filter((kind) => kind !== 'obo' || canConfigureObo || auth === 'obo')
          .map((kind) => (
            <option key={kind} value={kind} disabled={!isCompatible(form.type, kind)}>
              {words.auths[kind]}
            </option>
          ))}
      </SelectField>
      {auth === 'apiKey' && <ApiKeyFields {...parts} />}
      {auth === 'oauth' && <OAuthFields {...parts} />}
      {auth === 'obo' && (
        <div className={styles['section']}>
          <TextField
            label={words.oboScopes}
            hint={words.oboScopesHint}
            error={problems['obo.scopes']}
            isRequired
            autoComplete="off"
            spellCheck={false}
            value={form.oboScopes}
            onChange={({ target }) => change({ oboScopes: target.value }, 'obo.scopes')}
          />
          {!isLocked && <Notice tone="warning" title={words.oboWarning} />}
        </div>
      )}
    </>
  );
}

type ApiKeyForm = ServerForm['apiKey'];

/** An API key for all calls: the key of the author, or one key per user. */
function ApiKeyFields({ form, before, problems, change }: FormSectionProps) {
  const words = strings.servers.form;
  const { apiKey } = form;
  const isStored = keepsStoredKey({ ...form, apiKey: { ...apiKey, key: '' } }, before);
  const set = (patch: Partial<ApiKeyForm>, ...fields: readonly string[]) =>
    change({ apiKey: { ...apiKey, ...patch } }, ...fields);
  return (
    <div className={styles['section']}>
      <SelectField
        label={words.keySource}
        error={problems['apiKey.source']}
        value={apiKey.source}
        onChange={({ target }) =>
          set({ source: target.value as ApiKeyForm['source'] }, 'apiKey.source', 'apiKey.key', 'url')
        }
      >
        {keySources.map((source) => (
          <option key={source} value={source}>
            {words.keySources[source]}
          </option>
        ))}
      </SelectField>
      {apiKey.source === 'admin' && (
        <TextField
          label={words.key}
          hint={isStored ? words.secretStored : words.keyHint}
          error={problems['apiKey.key']}
          isRequired={!isStored}
          type="password"
          autoComplete="new-password"
          spellCheck={false}
          maxLength={8192}
          placeholder={isStored ? secretMask : undefined}
          value={apiKey.key}
          onChange={({ target }) => set({ key: target.value }, 'apiKey.key')}
        />
      )}
      <div className={styles['pair']}>
        <SelectField
          label={words.keyForm}
          error={problems['apiKey.authorization_type']}
          value={apiKey.form}
          onChange={({ target }) =>
            set({ form: target.value as ApiKeyForm['form'] }, 'apiKey.authorization_type')
          }
        >
          {keyForms.map((value) => (
            <option key={value} value={value}>
              {words.keyForms[value]}
            </option>
          ))}
        </SelectField>
        {apiKey.form === 'custom' && (
          <TextField
            label={words.customHeader}
            error={problems['apiKey.custom_header']}
            isRequired
            autoComplete="off"
            spellCheck={false}
            value={apiKey.customHeader}
            onChange={({ target }) => set({ customHeader: target.value }, 'apiKey.custom_header')}
          />
        )}
      </div>
    </div>
  );
}

type OAuthForm = ServerForm['oauth'];
type TextKey = 'clientId' | 'authorizationUrl' | 'tokenUrl' | 'revocationUrl' | 'scope';

/** OAuth settings. The gateway discovers empty values. */
function OAuthFields({ form, before, problems, change }: FormSectionProps) {
  const words = strings.servers.form;
  const { oauth } = form;
  // The gateway does not reveal whether a secret is stored.
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
          onChange={(removesSecret) =>
            set({ removesSecret, clientSecret: '' }, 'oauth.client_secret', 'auth')
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
