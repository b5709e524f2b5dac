import type { CredentialView } from '@behalf/contracts';
import { formatTimeSpan } from './formatTimeSpan.ts';

/** What is shown of a credential anywhere: nothing that leads to it. */
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

/** The same for programs. */
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
