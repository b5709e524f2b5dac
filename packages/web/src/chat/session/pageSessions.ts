import type { ConversationSummary } from '@behalf/contracts';
import {
  startAnswer,
  conversationQuery,
  conversationsQuery,
  stopAnswer,
  reportConnected,
} from '../../api/chat.ts';
import { queryClient, runAsMutation } from '../../app/queryClient.ts';
import { connectControllers } from '../../connect/pageConnectControllers.ts';
import { addToPages, removeFromPages } from '../list/conversationPages.ts';
import { showError } from '../../ui/Toasts.tsx';
import { pageDrafts } from './drafts.ts';
import { createSessions } from './sessions.ts';
import { schedule } from './session.ts';

/** Sessions of this page. A different user always starts with a new page. */
export const sessions = createSessions({
  startAnswer: startAnswer,
  stopAnswer: stopAnswer,
  resumeCall: (id, callId) =>
    runAsMutation(() => reportConnected(id, callId, true)).then(() => undefined, showError),
  drafts: pageDrafts,
  schedule,
  now: () => Date.now(),
  onStarted: (_session, summary) => showAsNewest(summary),
  onSummary: showAsNewest,
  onWithdrawn(id) {
    void queryClient.invalidateQueries({ queryKey: conversationsQuery.queryKey });
    if (id !== undefined) void queryClient.invalidateQueries({ queryKey: conversationQuery(id).queryKey });
  },
});

connectControllers.onConnected((server) => sessions.resumeAfterConnect(server));

function showAsNewest(summary: ConversationSummary): void {
  queryClient.setQueryData(conversationsQuery.queryKey, (pages) => addToPages(pages, summary));
}

/** Removes a deleted conversation from the list and from all caches. */
export function forgetDeletedConversation(id: string): void {
  forgetConversation(id);
  queryClient.removeQueries({ queryKey: conversationQuery(id).queryKey });
}

/**
 * Removes a missing conversation from the list. Its query stays cached, because the open page shows
 * that the conversation does not exist.
 */
export function forgetConversation(id: string): void {
  sessions.forget(id);
  pageDrafts.write(id, '');
  queryClient.setQueryData(conversationsQuery.queryKey, (pages) => removeFromPages(pages, id));
}
