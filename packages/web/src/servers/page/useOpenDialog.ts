import { useState } from 'react';
import { useSearchParams } from 'wouter';

const dialogs = ['edit', 'share'] as const;
type OpenDialog = (typeof dialogs)[number];

/**
 * Which dialog of a server is open: the one that the address names, so that it can be opened anew and sent to somebody.
 * It opens for who may do what it is for, and stays open when they lose that: what they typed is theirs to copy.
 */
export function useOpenDialog(may: Readonly<Record<OpenDialog, boolean>>) {
  const [params, setParams] = useSearchParams();
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const named = dialogs.find((dialog) => params.has(dialog)) ?? null;
  if (named !== open && (named === null || may[named])) setOpen(named);

  function name(dialog: OpenDialog | null): void {
    const next = new URLSearchParams(params);
    for (const other of dialogs) next.delete(other);
    if (dialog) next.set(dialog, '1');
    setParams(next, { replace: true });
  }
  return {
    open: open === named ? open : null,
    show: (dialog: OpenDialog) => name(dialog),
    close: () => name(null),
  };
}
