/** Why what was said has no whole answer. */
export type ChatFailure =
  /** The gateway took nothing: what was said stands beside the conversation, to be sent again. */
  | { readonly kind: 'refused'; readonly text: string; readonly error: unknown }
  /** Stopped before the gateway said anything about it: it may have been taken. */
  | { readonly kind: 'withdrawn'; readonly text: string }
  /** The connection was lost while the answer was being written. */
  | { readonly kind: 'broken' };
