import type { FlowError, FlowStatusView } from '@behalf/contracts';

/** Whether a server took the new token when it was tried. */
export type ConnectProbe = NonNullable<FlowStatusView['probe']>;

/** How the sign-in of this page at one server stands. */
export type ConnectState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | {
      readonly kind: 'waiting';
      /** Where it goes on: an address of ours. */
      readonly address: string;
      /** `blocked`: the browser opened none. `away`: it is closed, or belongs to another site by now. */
      readonly window: 'open' | 'blocked' | 'away';
      readonly isCanceling?: boolean;
    }
  | { readonly kind: 'connected'; readonly at: number; readonly probe?: ConnectProbe }
  /** It was begun and did not succeed. */
  | { readonly kind: 'failed'; readonly error: FlowError }
  /** The gateway did not begin it, or says nothing of it any more. */
  | { readonly kind: 'refused'; readonly error: unknown };

/** Whether it goes on by itself. */
export function isInProgress({ kind }: ConnectState): boolean {
  return kind === 'starting' || kind === 'waiting';
}
