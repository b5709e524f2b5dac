/**
 * The files whose failure exposes a token or grants access, most important first. `npm run mutants` without paths tests these;
 * CONTRIBUTING.md records their scores.
 */
export const mutatedFiles: readonly string[] = [
  // Refresh of tokens and their persistence.
  'packages/gateway/src/credentials/vault/refreshOnce.ts',
  'packages/gateway/src/credentials/vault/decide.ts',
  'packages/gateway/src/credentials/vault/persist.ts',
  'packages/gateway/src/credentials/vault/claim.ts',
  // On-Behalf-Of: single flight, cache key and cache of the exchange.
  'packages/gateway/src/credentials/obo/exchanger.ts',
  'packages/gateway/src/credentials/obo/key.ts',
  'packages/gateway/src/credentials/obo/cache.ts',
  // Who may exchange tokens for which resource, and who may use which server.
  'packages/gateway/src/access/oboTrust.ts',
  'packages/gateway/src/access/oboTargets.ts',
  'packages/gateway/src/access/acl.ts',
  // The egress guard.
  'packages/egress/src/targetCheck.ts',
  'packages/egress/src/policy.ts',
  // Encryption at rest.
  'packages/kernel/src/seal.ts',
  // Verification of sessions and API keys.
  'packages/gateway/src/identity/signInSessions.ts',
  'packages/gateway/src/identity/apiKeys.ts',
];
