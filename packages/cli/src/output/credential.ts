import type { CredentialView } from '@behalf/contracts';
import { span } from './span.ts';

/** What is shown of a credential anywhere: nothing that leads to it. */
export function credentialLine(credential: CredentialView, now: number): string {
  const { label, fingerprint, hasRefreshToken } = credential;
  const renewed = hasRefreshToken ? ', renewed by itself' : '';
  return `${label}: ${fingerprint ?? 'no token'}, ${expiryOf(credential, now)}${renewed}`;
}

export function expiryOf({ expiresAt }: Pick<CredentialView, 'expiresAt'>, now: number): string {
  if (expiresAt === null) return 'no known end';
  return expiresAt <= now ? `ended ${span(now - expiresAt)} ago` : `ends in ${span(expiresAt - now)}`;
}

/** The same for programs. */
export function shownCredential(credential: CredentialView) {
  const { server, label, kind, isDefault, status, reason, scopes, expiresAt, hasRefreshToken, fingerprint } =
    credential;
  const { issuer, lastUsedAt } = credential;
  return {
    ...{ server, label, kind, isDefault, status },
    ...(reason !== undefined && { reason }),
    ...{ issuer, scopes, expiresAt, hasRefreshToken, fingerprint, lastUsedAt },
  };
}
