import type { CredentialPatch, CredentialRecord } from '@behalf/gateway/ports';

const mutableCredentialFields = [
  'canonicalUrl',
  'issuer',
  'clientId',
  'resource',
  'status',
  'reason',
  'statusAt',
  'generation',
  'tokenSeq',
  'rtHash',
  'atHash',
  'sealed',
  'rtSuspect',
  'issuedAt',
  'lifetimeMs',
  'tokenExpiresAt',
  'scopesRequested',
  'scopesGranted',
  'endpoints',
  'claimOwner',
  'claimStartedAt',
  'claimDeadline',
  'expiresAt',
] as const satisfies readonly (keyof CredentialPatch)[];

/**
 * What of a credential is written. Whose it is and its counters of claims and writes stay, whatever else the given object
 * carries; a claim that ends leaves no times behind.
 */
export function pickCredentialChanges(patch: CredentialPatch): Partial<CredentialRecord> {
  const changedFields = mutableCredentialFields.filter((field) => patch[field] !== undefined);
  return {
    ...Object.fromEntries(changedFields.map((field) => [field, patch[field]])),
    ...(patch.claimOwner === null ? { claimStartedAt: null, claimDeadline: null } : {}),
  };
}
