// A separate entry point: `openid-client` and `jose` are loaded only if an identity provider is configured.
export { createBearerCallers, type BearerCallers } from './bearer.ts';
export { createBearerVerifier, type BearerVerifier } from './bearer.ts';
export { createIntrospection, type Introspection } from './introspection.ts';
export { createSigningKeySource, type SigningKeySource } from './provider.ts';
export { createLoginContexts } from './loginTokens.ts';
export { createLoginTokens, type FederatedTokens, type LoginTokens } from './loginTokens.ts';
export { createOpenIdLogin, type OpenIdLogin } from './openIdLogin.ts';
export { createProviderMetadata, type ProviderMetadataSource } from './provider.ts';
export { createProvisioning, type Provisioning } from './provisioning.ts';
export type { RoleExists } from './verifiedIdentity.ts';
