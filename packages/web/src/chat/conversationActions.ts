import { createContext, use } from 'react';
import type { Session } from './session/session.ts';

/** Actions that components of a conversation can call. */
export interface ConversationActions {
  readonly session: Session;
  readonly send: (text: string) => void;
  /** Sends the last user message again. */
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
