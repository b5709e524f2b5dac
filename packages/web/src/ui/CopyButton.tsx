import { useEffect, useRef, useState } from 'react';
import { strings } from '../strings/strings.ts';
import { Button } from './Button.tsx';
import { Dialog } from './Dialog.tsx';
import { TextArea } from './Field.tsx';
import { Icon } from './Icon.tsx';

/** Copies a text to the clipboard and confirms it on the button. */
export function CopyButton({
  text,
  label = strings.common.copy,
}: {
  readonly text: () => string;
  readonly label?: string;
}) {
  const [isCopied, setDone] = useState(false);
  const [manualText, setByHand] = useState<string | null>(null);

  async function copy(): Promise<void> {
    const content = text();
    try {
      // Without TLS there is no clipboard, and the browser may deny access to it.
      await navigator.clipboard.writeText(content);
      setDone(true);
      setTimeout(() => setDone(false), 2_000);
    } catch {
      setByHand(content);
    }
  }

  return (
    <>
      <Button
        size="small"
        variant="quiet"
        icon={<Icon name={isCopied ? 'check' : 'copy'} size={16} />}
        onClick={() => void copy()}
      >
        {isCopied ? strings.common.copied : label}
      </Button>
      {manualText !== null && <CopyManuallyDialog text={manualText} onClose={() => setByHand(null)} />}
    </>
  );
}

/** Shows a text that could not be copied, selected for copying by keyboard. */
function CopyManuallyDialog({ text, onClose }: { readonly text: string; readonly onClose: () => void }) {
  const words = strings.common;
  const fieldRef = useRef<HTMLTextAreaElement>(null);
  // Runs after the dialog has opened, which sets the focus itself.
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
