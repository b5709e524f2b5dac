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

/** The conversations of this page. Whoever signs in anew loads the page anew. */
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

/** It is no more: neither in the list nor anywhere else on this page. */
export function forgetDeletedConversation(id: string): void {
  forgetConversation(id);
  queryClient.removeQueries({ queryKey: conversationQuery(id).queryKey });
}

/** The same for one that is being looked at: the page goes on saying that there is no such conversation. */
export function forgetConversation(id: string): void {
  sessions.forget(id);
  pageDrafts.write(id, '');
  queryClient.setQueryData(conversationsQuery.queryKey, (pages) => removeFromPages(pages, id));
}
