import { useState } from 'react';
import { useSearchParams } from 'wouter';

const dialogs = ['edit', 'share'] as const;
type OpenDialog = (typeof dialogs)[number];

/**
 * Which dialog of a server is open: the one that the address names, so that it can be opened anew and sent to somebody.
 * It opens for who may do what it is for, and stays open when they lose that: what they typed is theirs to copy.
 */
export function useOpenDialog(canOpen: Readonly<Record<OpenDialog, boolean>>) {
  const [params, setParams] = useSearchParams();
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const dialogInUrl = dialogs.find((dialog) => params.has(dialog)) ?? null;
  if (dialogInUrl !== open && (dialogInUrl === null || canOpen[dialogInUrl])) setOpen(dialogInUrl);

  function setDialogInUrl(dialog: OpenDialog | null): void {
    const next = new URLSearchParams(params);
    for (const key of dialogs) next.delete(key);
    if (dialog) next.set(dialog, '1');
    setParams(next, { replace: true });
  }
  return {
    open: open === dialogInUrl ? open : null,
    show: (dialog: OpenDialog) => setDialogInUrl(dialog),
    close: () => setDialogInUrl(null),
  };
}
