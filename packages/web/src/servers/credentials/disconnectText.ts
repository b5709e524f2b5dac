import type { DisconnectView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';

/** How far ending a sign-in went. What may live on elsewhere is a warning: its owner has to know. */
export function disconnectText({ disconnected, revoked }: DisconnectView): {
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
} {
  const words = strings.credentials;
  if (!disconnected) return { tone: 'info', title: words.notThere, text: '' };
  const livesOn = revoked === 'failed' || revoked === 'unsupported';
  return { tone: livesOn ? 'warning' : 'success', title: words.disconnected, text: words.revoked[revoked] };
}
