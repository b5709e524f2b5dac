import { secretMask } from '@behalf/contracts/plain';
import { strings } from '../../strings/strings.ts';
import { SelectField, TextField } from '../../ui/Field.tsx';
import type { FormSectionProps } from './formSectionProps.ts';
import styles from './ServerDialog.module.css';
import { keepsStoredKey, keyForms, keySources, type ServerForm } from './serverForm.ts';

type ApiKeyForm = ServerForm['apiKey'];

/** A key that is sent with every call: the author's, or one of each user. */
export function ApiKeyFields({ form, before, problems, change }: FormSectionProps) {
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
