import type { CredentialView } from '@behalf/contracts';

/** Describes a credential without revealing any part of it. */
export function formatCredential(credential: CredentialView, now: number): string {
  const { label, fingerprint, hasRefreshToken } = credential;
  const refreshText = hasRefreshToken ? ', renewed automatically' : '';
  return `${label}: ${fingerprint ?? 'no token'}, ${formatExpiry(credential, now)}${refreshText}`;
}

export function formatExpiry({ expiresAt }: Pick<CredentialView, 'expiresAt'>, now: number): string {
  if (expiresAt === null) return 'no known expiry';
  return expiresAt <= now
    ? `expired ${formatTimeSpan(now - expiresAt)} ago`
    : `expires in ${formatTimeSpan(expiresAt - now)}`;
}

/** The same as JSON. */
export function toCredentialJson(credential: CredentialView) {
  const { server, label, kind, isDefault, status, reason, scopes, expiresAt, hasRefreshToken, fingerprint } =
    credential;
  const { issuer, lastUsedAt } = credential;
  return {
    ...{ server, label, kind, isDefault, status },
    ...(reason !== undefined && { reason }),
    ...{ issuer, scopes, expiresAt, hasRefreshToken, fingerprint, lastUsedAt },
  };
}

/** Formats a duration in words. */
export function formatTimeSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
