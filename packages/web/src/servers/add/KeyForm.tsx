import { useState } from 'react';
import type { DiscoveryAuth } from '../../api/servers.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import styles from '../form/ServerDialog.module.css';
import { emptyForm, keyForms, type ServerForm } from '../form/serverForm.ts';
import type { DiscoveryState } from './useDiscovery.ts';

/** A token or key for the discovery. It is copied to the server form and stored nowhere else. */
export function KeyForm({
  discovery: { discover, isDiscovering },
  previousAuth,
}: {
  readonly discovery: DiscoveryState;
  /** The credential of the previous attempt. */
  readonly previousAuth: DiscoveryAuth | undefined;
}) {
  const words = strings.servers.addDialog;
  const formWords = strings.servers.form;
  const previousKey = previousAuth?.type === 'key' ? previousAuth : undefined;
  const [form, setForm] = useState<ServerForm['apiKey']['form']>(previousKey?.authorization_type ?? 'bearer');
  const [header, setHeader] = useState(previousKey?.custom_header ?? emptyForm.apiKey.customHeader);
  const [key, setKey] = useState('');
  const [hasSubmitted, setHasSubmitted] = useState(false);
  const isHeaderMissing = form === 'custom' && header.trim() === '';

  function submitKey(): void {
    setHasSubmitted(true);
    if (key === '' || isHeaderMissing || isDiscovering) return;
    discover({
      ...{ type: 'key', authorization_type: form, key },
      ...(form === 'custom' && { custom_header: header.trim() }),
    });
  }

  return (
    <div
      className={styles['section']}
      role="group"
      aria-label={words.keyTitle}
      onKeyDown={(event) => {
        // Enter repeats the discovery with the key instead of without it.
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        submitKey();
      }}
    >
      <TextField
        label={formWords.key}
        hint={words.keyText}
        error={hasSubmitted && key === '' ? words.keyMissing : undefined}
        isRequired
        type="password"
        autoComplete="new-password"
        spellCheck={false}
        maxLength={8192}
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      <div className={styles['pair']}>
        <SelectField
          label={formWords.keyForm}
          value={form}
          onChange={({ target }) => setForm(target.value as typeof form)}
        >
          {keyForms.map((value) => (
            <option key={value} value={value}>
              {formWords.keyForms[value]}
            </option>
          ))}
        </SelectField>
        {form === 'custom' && (
          <TextField
            label={formWords.customHeader}
            error={hasSubmitted && isHeaderMissing ? words.headerMissing : undefined}
            isRequired
            autoComplete="off"
            spellCheck={false}
            value={header}
            onChange={({ target }) => setHeader(target.value)}
          />
        )}
      </div>
      <div>
        <Button isBusy={isDiscovering} onClick={submitKey}>
          {words.tryKey}
        </Button>
      </div>
    </div>
  );
}
