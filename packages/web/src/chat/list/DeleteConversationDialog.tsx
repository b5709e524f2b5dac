import type { ConversationSummary } from '@behalf/contracts';
import { useMutation } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { ApiError } from '../../api/apiError.ts';
import { deleteConversation } from '../../api/chat.ts';
import { strings } from '../../strings/strings.ts';
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx';
import { showToast } from '../../ui/toasts.ts';
import { forgetDeletedConversation } from '../session/pageSessions.ts';

export function DeleteConversationDialog({
  conversation: { id, title },
  onClose,
  onDeleted,
}: {
  readonly conversation: ConversationSummary;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}) {
  const words = strings.chat.list;
  const [path, navigate] = useLocation();
  const deleteMutation = useMutation({
    async mutationFn() {
      try {
        await deleteConversation(id);
      } catch (error) {
        // Somebody was faster; it is gone, and that is what was wanted.
        if (!(error instanceof ApiError && error.code === 'CHAT_NOT_FOUND')) throw error;
      }
    },
    onSuccess() {
      // Who looks at it goes elsewhere first: it would be asked for again.
      if (path === `/chat/${encodeURIComponent(id)}`) navigate('/chat', { replace: true });
      forgetDeletedConversation(id);
      showToast('success', words.deleted);
      onDeleted();
    },
  });
  return (
    <ConfirmDialog
      title={words.deleteTitle}
      confirm={strings.common.delete}
      isBusy={deleteMutation.isPending}
      error={deleteMutation.error}
      onConfirm={() => deleteMutation.mutate()}
      onClose={onClose}
    >
      {words.deleteText(title || words.untitled)}
    </ConfirmDialog>
  );
}
