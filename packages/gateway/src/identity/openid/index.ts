// A part of its own: what it is built on is loaded only where an identity provider is configured.
export { createBearerCallers, type BearerCallers } from './bearerCallers.ts';
export { createBearerVerifier, type BearerVerifier } from './bearerVerifier.ts';
export { createIntrospection, type Introspection } from './introspection.ts';
export { createSigningKeySource, type SigningKeySource } from './keySource.ts';
export { createLoginContexts } from './loginContext.ts';
export { createLoginTokens, type FederatedTokens, type LoginTokens } from './loginTokens.ts';
export { createOpenIdLogin, type OpenIdLogin } from './openIdLogin.ts';
export { createProviderMetadata, type ProviderMetadataSource } from './providerMetadata.ts';
export { createProvisioning, type Provisioning } from './provisioning.ts';
export type { RoleExists } from './roleMapping.ts';
