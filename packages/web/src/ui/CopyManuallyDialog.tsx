import { useEffect, useRef } from 'react';
import { strings } from '../strings/strings.ts';
import { Button } from './Button.tsx';
import { Dialog } from './Dialog.tsx';
import { TextArea } from './Field.tsx';

/** A text that the browser did not let us copy, chosen so that one key copies it. */
export function CopyManuallyDialog({
  text,
  onClose,
}: {
  readonly text: string;
  readonly onClose: () => void;
}) {
  const words = strings.common;
  const fieldRef = useRef<HTMLTextAreaElement>(null);
  // After the dialog has opened, which takes the focus for itself.
  useEffect(() => {
    fieldRef.current?.focus();
    fieldRef.current?.select();
  }, []);
  return (
    <Dialog
      title={words.copyManually}
      onClose={onClose}
      actions={
        <Button variant="primary" onClick={onClose}>
          {words.close}
        </Button>
      }
    >
      <TextArea
        ref={fieldRef}
        label={words.copyText}
        hint={words.copyFailed}
        rows={6}
        readOnly
        spellCheck={false}
        value={text}
      />
    </Dialog>
  );
}
