import { useState } from 'react';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';

/** A second account at the same server needs a name. The window of the sign-in opens with the button that takes it. */
export function ConnectAnotherDialog({
  existingLabels,
  onConnect,
  onClose,
}: {
  readonly existingLabels: readonly string[];
  readonly onConnect: (label: string) => void;
  readonly onClose: () => void;
}) {
  const words = strings.credentials;
  const [label, setLabel] = useState('');
  const [error, setError] = useState<string>();

  function submit(): void {
    const newLabel = label.trim();
    if (newLabel === '') setError(words.labelMissing);
    else if (existingLabels.includes(newLabel)) setError(words.labelTaken);
    else onConnect(newLabel);
  }

  return (
    <Dialog
      title={words.anotherTitle}
      onClose={onClose}
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>{strings.common.cancel}</Button>
          <Button type="submit" variant="primary">
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
