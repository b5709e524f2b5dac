import type { CredentialView, DisconnectView } from '@behalf/contracts';
import { describeSignInReason } from '../../connect/connectState.ts';
import { strings } from '../../strings/strings.ts';
import type { Tone } from '../../ui/Badge.tsx';
import { formatTimeOrDate } from '../../ui/format.ts';

/** The state of a credential in words. */
interface CredentialText {
  readonly tone: Tone;
  readonly badge: string;
  readonly text: string;
  /** The user must sign in before it works. */
  readonly needsSignIn: boolean;
}

type Stored = Pick<CredentialView, 'status' | 'reason' | 'expiresAt' | 'hasRefreshToken'>;

export function describeCredential(view: Stored, now = Date.now()): CredentialText {
  const words = strings.credentials;
  const reason = signInReason(view, now);
  if (reason !== undefined) {
    return {
      tone: 'warning',
      badge: words.signInAgain,
      text: describeSignInReason(reason),
      needsSignIn: true,
    };
  }
  const { expiresAt, hasRefreshToken } = view;
  const active = { tone: 'success', badge: words.active, needsSignIn: false } as const;
  if (expiresAt === null) return { ...active, text: words.noExpiry };
  if (hasRefreshToken) {
    return {
      ...active,
      text: expiresAt > now ? words.renewedUntil(formatTimeOrDate(expiresAt)) : words.renewedOnUse,
    };
  }
  return {
    ...active,
    tone: 'info',
    badge: words.expires,
    text: words.expiresAt(formatTimeOrDate(expiresAt)),
  };
}

/** Why the user must sign in again; undefined if the credential works. */
function signInReason(
  { status, reason, expiresAt, hasRefreshToken }: Stored,
  now: number,
): string | undefined {
  if (reason !== undefined) return reason;
  if (status !== 'active') return status;
  const isExpired = expiresAt !== null && expiresAt <= now && !hasRefreshToken;
  return isExpired ? 'expired_no_refresh' : undefined;
}

/** The label of a credential without a name. */
const DEFAULT_LABEL = 'default';

export function credentialName(label: string): string {
  return label === DEFAULT_LABEL ? strings.credentials.defaultName : label;
}

/** The result of disconnecting. A token that may still be valid at the server is a warning. */
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
