import { createHash } from 'node:crypto';
import type { CredentialRecord } from '../../ports/index.ts';
import type { DecryptedTokens } from './sealedTokens.ts';
import type { VaultTimings } from './timings.ts';
import type { VaultToken } from './vault.ts';

/** The part of a lifetime after which a token may be renewed before anybody asks, and how far that is spread. */
const EARLY_RENEWAL_START = 0.8;
const EARLY_RENEWAL_SPREAD = 0.12;

export function skewOf(lifetimeMs: number | null, { maxSkewMs }: VaultTimings): number {
  return lifetimeMs === null ? 0 : Math.min(maxSkewMs, lifetimeMs / 10);
}

/** Until its very end; or, when there is a way to another one, until a moment before. */
export function toVaultToken(record: CredentialRecord, tokens: DecryptedTokens, skewMs: number): VaultToken {
  const { tokenExpiresAt } = record;
  return Object.freeze({
    id: record.id,
    generation: record.generation,
    tokenSeq: record.tokenSeq,
    accessToken: tokens.accessToken,
    canonicalUrl: record.canonicalUrl,
    usableUntil: tokenExpiresAt === null ? Infinity : tokenExpiresAt - skewMs,
    expiresAt: tokenExpiresAt,
    scopes: record.scopesGranted,
    scopesRequested: record.scopesRequested,
    idToken: tokens.idToken,
    isRenewable: record.status === 'active' && record.rtHash !== null,
    prover: tokens.tokenType === 'dpop' ? tokens.prover : undefined,
  });
}

/**
 * When a token is renewed before anybody has to wait for it: the same moment in all processes, another one for each
 * credential, so that those who signed in together are not renewed together. Infinity: never.
 */
export function earlyRenewalAt(record: CredentialRecord, { minEarlyLifetimeMs }: VaultTimings): number {
  const { id, issuedAt, lifetimeMs, rtHash, status, reason } = record;
  const isNeverEarly = status !== 'active' || rtHash === null || reason === EARLY_REFUSED;
  if (isNeverEarly || lifetimeMs === null || lifetimeMs < minEarlyLifetimeMs) return Infinity;
  return issuedAt + lifetimeMs * (EARLY_RENEWAL_START + EARLY_RENEWAL_SPREAD * hashToUnitInterval(id));
}

/** The reason of a record that is active: its authorization server does not renew a token that still lives. */
export const EARLY_REFUSED = 'early_refused';

/** In [0, 1). */
function hashToUnitInterval(id: string): number {
  return createHash('sha256').update(id).digest().readUInt32BE() / 2 ** 32;
}
