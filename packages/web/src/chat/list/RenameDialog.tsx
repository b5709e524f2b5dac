import type { ConversationSummary } from '@behalf/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/apiError.ts';
import { conversationQuery, conversationsQuery, renameConversation } from '../../api/chat.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { TextField } from '../../ui/Field.tsx';
import { ErrorNotice } from '../../ui/Notice.tsx';
import { sessions } from '../session/pageSessions.ts';
import { withRenamed } from './conversationPages.ts';

const LONGEST = 200;

export function RenameDialog({
  conversation,
  onClose,
}: {
  readonly conversation: ConversationSummary;
  readonly onClose: () => void;
}) {
  const { list: words } = strings.chat;
  const { common } = strings;
  const client = useQueryClient();
  const [title, setTitle] = useState(conversation.title);
  const rename = useMutation({
    mutationFn: () => renameConversation(conversation.id, title.trim()),
    onSuccess(renamed) {
      client.setQueryData(conversationsQuery.queryKey, (pages) => withRenamed(pages, renamed));
      client.setQueryData(
        conversationQuery(renamed.id).queryKey,
        (view) => view && { ...view, title: renamed.title },
      );
      sessions.get(renamed.id)?.title.set(renamed.title);
      onClose();
    },
  });
  const { error } = rename;
  const atField =
    error instanceof ApiError ? error.errors.find(({ path }) => path.endsWith('title')) : undefined;
  return (
    <Dialog
      title={words.renameTitle}
      onClose={onClose}
      onSubmit={() => rename.mutate()}
      actions={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" variant="primary" isBusy={rename.isPending} disabled={title.trim() === ''}>
            {common.save}
          </Button>
        </>
      }
    >
      <TextField
        label={words.name}
        value={title}
        maxLength={LONGEST}
        isRequired
        autoFocus
        error={atField?.message}
        onChange={({ target }) => setTitle(target.value)}
      />
      {error && !atField && <ErrorNotice error={error} />}
    </Dialog>
  );
}
