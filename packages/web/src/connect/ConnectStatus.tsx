import { describeConnectState } from './connectText.ts';
import type { ConnectHandle } from './useConnect.ts';

/** How a sign-in goes, in a notice that says more than that. Nothing before it was begun, or after it succeeded. */
export function ConnectStatus({ connect: { state } }: { readonly connect: ConnectHandle }) {
  const text = state.kind === 'connected' ? undefined : describeConnectState(state);
  if (!text) return null;
  return (
    <p role="status">
      <strong>{text.title}</strong> {text.text}
    </p>
  );
}
