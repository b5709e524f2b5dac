import type { DisconnectView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';

/** How far ending a sign-in went. What may live on elsewhere is a warning: its owner has to know. */
export function describeDisconnect({ disconnected, revoked }: DisconnectView): {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
} {
  const words = strings.credentials;
  if (!disconnected) return { tone: 'info', title: words.alreadyDisconnected, text: '' };
  const mayStayValid = revoked === 'failed' || revoked === 'unsupported';
  return {
    tone: mayStayValid ? 'warning' : 'success',
    title: words.disconnected,
    text: words.revoked[revoked],
  };
}
