import type { CredentialView } from '@behalf/contracts';
import { reasonText } from '../../connect/connectText.ts';
import { formatNear } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';

/** How something stored stands, for who stored it. */
export interface CredentialText {
  readonly tone: Tone;
  readonly chip: string;
  readonly text: string;
  /** Its user has to act before it works. */
  readonly isWanting: boolean;
}

type Stored = Pick<CredentialView, 'status' | 'reason' | 'expiresAt' | 'hasRefreshToken'>;

export function credentialText(view: Stored, now = Date.now()): CredentialText {
  const words = strings.credentials;
  const why = whyWanting(view, now);
  if (why !== undefined) {
    return { tone: 'warning', chip: words.wanting, text: reasonText(why), isWanting: true };
  }
  const { expiresAt, hasRefreshToken } = view;
  const good = { tone: 'success', chip: words.good, isWanting: false } as const;
  if (expiresAt === null) return { ...good, text: words.endless };
  if (hasRefreshToken) {
    return { ...good, text: expiresAt > now ? words.renewed(formatNear(expiresAt)) : words.renewedNext };
  }
  return { ...good, tone: 'info', chip: words.endsSoon, text: words.ends(formatNear(expiresAt)) };
}

/** The reason for which its user has to sign in again; undefined where it works. */
function whyWanting({ status, reason, expiresAt, hasRefreshToken }: Stored, now: number): string | undefined {
  if (reason !== undefined) return reason;
  if (status !== 'active') return status;
  const isOver = expiresAt !== null && expiresAt <= now && !hasRefreshToken;
  return isOver ? 'expired_no_refresh' : undefined;
}

/** What the gateway calls the one that has no name of its own. */
const UNNAMED = 'default';

export function credentialName(label: string): string {
  return label === UNNAMED ? strings.credentials.mine : label;
}
