import { isSafeEndpointOf, isSafeUrl } from '../safeUrl.ts';
import { SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';
import type { AuthorizationServerMetadata } from './authorizationServerMetadata.ts';

/**
 * The authorization server that the definition writes down; undefined where it leaves something to be discovered. Without a name
 * its token endpoint stands for it: another endpoint is then another authorization server, and nothing given by the one is taken
 * to the other.
 */
export function readConfiguredServer(
  target: SignInTarget,
  now: number,
): AuthorizationServerMetadata | undefined {
  const { authorizationUrl, tokenUrl, revocationUrl, issuer = tokenUrl, raw } = target.oauth;
  const usesClientCredentials = raw.grant === 'client_credentials';
  if (tokenUrl === undefined || issuer === undefined) return undefined;
  if (authorizationUrl === undefined && !usesClientCredentials) return undefined;
  if (!isSafeUrl(issuer)) throw new SignInImpossible('metadata_invalid');
  for (const url of [authorizationUrl, tokenUrl, revocationUrl]) {
    if (url !== undefined && !isSafeEndpointOf(issuer, url)) throw new SignInImpossible('metadata_invalid');
  }
  return {
    issuer,
    hasIssuerIdentifier: target.oauth.issuer !== undefined,
    authorizationEndpoint: authorizationUrl ?? null,
    tokenEndpoint: tokenUrl,
    registrationEndpoint: null,
    revocationEndpoint: revocationUrl ?? null,
    jwksUri: null,
    isIssParameterSupported: false,
    scopes: null,
    authMethods: raw.token_endpoint_auth_methods_supported ?? null,
    // Nobody advertises anything here. On the operator's word it is used all the same.
    codeChallengeMethods: target.isOperatorDefined
      ? (raw.code_challenge_methods_supported ?? ['S256'])
      : null,
    supportsClientDocuments: false,
    dpopAlgorithms: null,
    fetchedAt: now,
  };
}

/** What is written down beside a name takes the place of what was discovered. */
export function withConfiguredEndpoints(
  asMetadata: AuthorizationServerMetadata,
  { oauth }: SignInTarget,
): AuthorizationServerMetadata {
  const { authorizationUrl, tokenUrl, revocationUrl, raw } = oauth;
  return {
    ...asMetadata,
    authorizationEndpoint: authorizationUrl ?? asMetadata.authorizationEndpoint,
    tokenEndpoint: tokenUrl ?? asMetadata.tokenEndpoint,
    revocationEndpoint: revocationUrl ?? asMetadata.revocationEndpoint,
    authMethods: raw.token_endpoint_auth_methods_supported ?? asMetadata.authMethods,
  };
}
