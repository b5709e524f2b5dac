import { useMutation, useQueryClient } from '@tanstack/react-query';
import { deleteCredential } from '../../api/credentials.ts';
import { invalidateServers } from '../../api/servers.ts';
import { strings } from '../../strings/strings.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { showToast } from '../../ui/toasts.ts';
import { credentialName } from './credentialState.ts';
import { describeDisconnect } from './disconnectText.ts';

/** Asks before a sign-in is ended, and says afterwards how far that went. */
export function DisconnectDialog({
  server,
  label,
  onClose,
}: {
  readonly server: string;
  readonly label: string;
  readonly onClose: () => void;
}) {
  const words = strings.credentials;
  const queryClient = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteCredential(server, label),
    onSuccess: (view) => {
      const { tone, title, text } = describeDisconnect(view);
      showToast(tone, title, text);
      onClose();
      return invalidateServers(queryClient);
    },
  });
  return (
    <ConfirmDialog
      title={words.disconnectTitle(credentialName(label))}
      confirm={words.disconnect}
      isBusy={isPending}
      error={error}
      onConfirm={() => mutate()}
      onClose={onClose}
    >
      {words.disconnectText}
    </ConfirmDialog>
  );
}
