import { strings } from '../../strings/strings.ts';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { ApiKeyFields } from './ApiKeyFields.tsx';
import type { FormSectionProps } from './formSectionProps.ts';
import { OAuthFields } from './OAuthFields.tsx';
import styles from './ServerDialog.module.css';
import { authKinds, isCompatible, type AuthKind } from './serverForm.ts';

/** With which credential it is called. On-Behalf-Of is offered to those whose role may configure it. */
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
