import { createHash } from 'node:crypto';
import type { CredentialRecord } from '../../ports/index.ts';
import type { OpenTokens } from './openTokens.ts';
import type { VaultTimings } from './timings.ts';
import type { HeldToken } from './vault.ts';

/** The part of a lifetime after which a token may be renewed before anybody asks, and how far that is spread. */
const EARLIEST = 0.8;
const SPREAD = 0.12;

export function skewOf(lifetimeMs: number | null, { longestSkewMs }: VaultTimings): number {
  return lifetimeMs === null ? 0 : Math.min(longestSkewMs, lifetimeMs / 10);
}

/** Until its very end; or, when there is a way to another one, until a moment before. */
export function heldToken(record: CredentialRecord, tokens: OpenTokens, skewMs: number): HeldToken {
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
export function earlyAt(record: CredentialRecord, { shortestEarlyMs }: VaultTimings): number {
  const { id, issuedAt, lifetimeMs, rtHash, status, reason } = record;
  const isNever = status !== 'active' || rtHash === null || reason === EARLY_REFUSED;
  if (isNever || lifetimeMs === null || lifetimeMs < shortestEarlyMs) return Infinity;
  return issuedAt + lifetimeMs * (EARLIEST + SPREAD * placeOf(id));
}

/** The reason of a record that is active: its authorization server does not renew a token that still lives. */
export const EARLY_REFUSED = 'early_refused';

/** In [0, 1). */
function placeOf(id: string): number {
  return createHash('sha256').update(id).digest().readUInt32BE() / 2 ** 32;
}
