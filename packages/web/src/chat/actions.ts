import { createContext, use } from 'react';
import type { Session } from './session/session.ts';

/** What parts of a conversation can do with it. */
export interface Actions {
  readonly session: Session;
  readonly send: (text: string) => void;
  /** What was said last, once more. */
  readonly sendAgain: () => void;
  readonly stop: () => void;
  readonly focusComposer: () => void;
}

const Context = createContext<Actions | null>(null);
export const ActionsProvider = Context.Provider;

export function useActions(): Actions {
  const actions = use(Context);
  if (!actions) throw new Error('There is no conversation around this');
  return actions;
}
