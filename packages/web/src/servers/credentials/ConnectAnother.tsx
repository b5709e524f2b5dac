import { useState } from 'react';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';

/** A second account at the same server needs a name. The window of the sign-in opens with the button that takes it. */
export function ConnectAnother({
  taken,
  onConnect,
  onClose,
}: {
  readonly taken: readonly string[];
  readonly onConnect: (label: string) => void;
  readonly onClose: () => void;
}) {
  const words = strings.credentials;
  const [label, setLabel] = useState('');
  const [error, setError] = useState<string>();

  function submit(): void {
    const wanted = label.trim();
    if (wanted === '') setError(words.labelMissing);
    else if (taken.includes(wanted)) setError(words.labelTaken);
    else onConnect(wanted);
  }

  return (
    <Dialog
      title={words.anotherTitle}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" look="primary">
            {strings.connect.connect}
          </Button>
        </>
      }
    >
      <p>{words.anotherText}</p>
      <TextField
        label={words.label}
        hint={words.labelHint}
        isRequired
        autoComplete="off"
        maxLength={64}
        value={label}
        error={error}
        onChange={({ target }) => {
          setLabel(target.value);
          setError(undefined);
        }}
      />
    </Dialog>
  );
}
