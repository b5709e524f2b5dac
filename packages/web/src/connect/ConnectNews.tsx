import { connectText } from './connectText.ts';
import type { Connect } from './useConnect.ts';

/** How a sign-in goes, in a notice that says more than that. Nothing before it was begun, or after it succeeded. */
export function ConnectNews({ connect: { state } }: { readonly connect: Connect }) {
  const told = state.kind === 'connected' ? undefined : connectText(state);
  if (!told) return null;
  return (
    <p role="status">
      <strong>{told.title}</strong> {told.text}
    </p>
  );
}
