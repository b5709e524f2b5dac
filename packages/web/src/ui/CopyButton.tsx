import { useState } from 'react';
import { strings } from '../strings/strings.ts';
import { Button } from './Button.tsx';
import { CopyByHand } from './CopyByHand.tsx';
import { Icon } from './Icon.tsx';

/** Puts a text into the clipboard, and says so where it was pressed. */
export function CopyButton({
  text,
  label = strings.common.copy,
}: {
  readonly text: () => string;
  readonly label?: string;
}) {
  const [isDone, setDone] = useState(false);
  const [byHand, setByHand] = useState<string | null>(null);

  async function copy(): Promise<void> {
    const copied = text();
    try {
      // Browsers have no clipboard for pages that came without TLS, and may refuse it to others.
      await navigator.clipboard.writeText(copied);
      setDone(true);
      setTimeout(() => setDone(false), 2_000);
    } catch {
      setByHand(copied);
    }
  }

  return (
    <>
      <Button
        size="small"
        look="quiet"
        icon={<Icon name={isDone ? 'check' : 'copy'} size={16} />}
        onClick={() => void copy()}
      >
        {isDone ? strings.common.copied : label}
      </Button>
      {byHand !== null && <CopyByHand text={byHand} onClose={() => setByHand(null)} />}
    </>
  );
}
