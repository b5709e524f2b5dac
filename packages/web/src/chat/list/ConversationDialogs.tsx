import type { ConversationSummary } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import {
  conversationQuery,
  conversationsQuery,
  deleteConversation,
  renameConversation,
} from '../../api/chat.ts';
import { ApiError } from '../../api/request.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import { forgetDeletedConversation, sessions } from '../session/pageSessions.ts';
import { renameInPages } from './conversationPages.ts';

const MAX_TITLE_LENGTH = 200;

export function RenameConversationDialog({
  conversation,
  onClose,
}: {
  readonly conversation: ConversationSummary;
  readonly onClose: () => void;
}) {
  const { list: words } = strings.chat;
  const { common } = strings;
  const queryClient = useQueryClient();
  const [title, setTitle] = useState(conversation.title);
  const renameMutation = useMutation({
    mutationFn: () => renameConversation(conversation.id, title.trim()),
    onSuccess(renamed) {
      queryClient.setQueryData(conversationsQuery.queryKey, (pages) => renameInPages(pages, renamed));
      queryClient.setQueryData(
        conversationQuery(renamed.id).queryKey,
        (view) => view && { ...view, title: renamed.title },
      );
      sessions.get(renamed.id)?.title.set(renamed.title);
      onClose();
    },
  });
  const { error } = renameMutation;
  const fieldError =
    error instanceof ApiError ? error.errors.find(({ path }) => path.endsWith('title')) : undefined;
  return (
    <Dialog
      title={words.renameTitle}
      onClose={onClose}
      onSubmit={() => renameMutation.mutate()}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button
            type="submit"
            variant="primary"
            isBusy={renameMutation.isPending}
            disabled={title.trim() === ''}
          >
            {common.save}
          </Button>
        </>
      }
    >
      <TextField
        label={words.titleLabel}
        value={title}
        maxLength={MAX_TITLE_LENGTH}
        isRequired
        autoFocus
        error={fieldError?.message}
        onChange={({ target }) => setTitle(target.value)}
      />
      {error && !fieldError && <ErrorNotice error={error} />}
    </Dialog>
  );
}

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
        // The conversation is already deleted, which is the wanted result.
        if (!(error instanceof ApiError && error.code === 'CHAT_NOT_FOUND')) throw error;
      }
    },
    onSuccess() {
      // Leave the page of the conversation first. Otherwise it would request the deleted conversation.
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
