import { createContext, use } from 'react';
import type { Session } from './session/session.ts';

/** What parts of a conversation can do with it. */
export interface ConversationActions {
  readonly session: Session;
  readonly send: (text: string) => void;
  /** What was said last, once more. */
  readonly resend: () => void;
  readonly stop: () => void;
  readonly focusComposer: () => void;
}

const ConversationActionsContext = createContext<ConversationActions | null>(null);
export const ConversationActionsProvider = ConversationActionsContext.Provider;

export function useConversationActions(): ConversationActions {
  const actions = use(ConversationActionsContext);
  if (!actions) throw new Error('There is no conversation around this');
  return actions;
}
