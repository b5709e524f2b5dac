import { useEffect, useRef, useState } from 'react';
import { strings } from '../strings/strings.ts';
import { Button } from './Button.tsx';
import { Dialog } from './Dialog.tsx';
import { TextArea } from './Field.tsx';
import { Icon } from './Icon.tsx';

/** Puts a text into the clipboard, and says so where it was pressed. */
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
      // Browsers have no clipboard for pages that came without TLS, and may refuse it to others.
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

/** A text that the browser did not let us copy, chosen so that one key copies it. */
function CopyManuallyDialog({ text, onClose }: { readonly text: string; readonly onClose: () => void }) {
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
