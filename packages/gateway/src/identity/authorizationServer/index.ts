// A separate entry point: its dependencies are loaded only if the authorization server is enabled.
export {
  createClientGrants,
  grantSessionHash,
  GRANT_LIFETIME_MS,
  type ClientGrants,
} from './clientGrants.ts';
export { createConsents, type Consents, type ConsentView } from './consents.ts';
export {
  createAuthorizationServerKeys,
  type AuthorizationServerKeys,
  type AuthorizationServerSecrets,
} from './signingKeys.ts';
export {
  createAuthorizationServerRecords,
  type AuthorizationServerRecords,
} from './authorizationServerRecords.ts';
export { createGrantTokenCallers, GRANT_CLAIM, type GrantTokenCallers } from './clientGrants.ts';
export { ACCESS_LIFETIME_MS, TOKEN_ALGORITHM, rotateTokenSigningKey } from './signingKeys.ts';
export { createIdJagVerifier, type IdJagVerifier, type IdJagIssuer } from './idJagVerifier.ts';
