import { useState } from 'react';
import { useSearchParams } from 'wouter';

const dialogs = ['edit', 'share'] as const;
type OpenDialog = (typeof dialogs)[number];

/**
 * Controls which dialog is open. The address names the dialog, so that a user can reload or share
 * it. A dialog opens only with permission. It stays open if the user loses the permission, so that
 * typed text can still be copied.
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
