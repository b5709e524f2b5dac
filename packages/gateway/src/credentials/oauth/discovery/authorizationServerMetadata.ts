import { isSafeEndpointOf, isSafeUrl } from '../safeUrl.ts';
import { SignInImpossible } from '../signInProblem.ts';
import { readStrings } from './protectedResource.ts';
import type { MetadataDocument } from './readDocument.ts';

/** An authorization server as it describes itself, every address of it checked. */
export interface AuthorizationServerMetadata {
  readonly issuer: string;
  /** False: the definition gives endpoints and no name; the token endpoint stands for it. */
  readonly hasIssuerIdentifier: boolean;
  /** Null: it gives tokens to programs alone. */
  readonly authorizationEndpoint: string | null;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | null;
  readonly revocationEndpoint: string | null;
  readonly jwksUri: string | null;
  /** RFC 9207: each of its responses names it. */
  readonly isIssParameterSupported: boolean;
  /** Null: it does not say. */
  readonly scopes: readonly string[] | null;
  readonly authMethods: readonly string[] | null;
  readonly codeChallengeMethods: readonly string[] | null;
  /** `client_id` may be the address of a document about the client. */
  readonly supportsClientDocuments: boolean;
  /** Algorithms of DPoP proofs (RFC 9449, section 5.1). Null: it does not say. */
  readonly dpopAlgorithms: readonly string[] | null;
  readonly fetchedAt: number;
}

/** Where the metadata of an issuer stands, in order (RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4). */
export function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, '');
  const oauth = `${origin}/.well-known/oauth-authorization-server${path}`;
  const openid = '/.well-known/openid-configuration';
  return path === ''
    ? [oauth, `${origin}${openid}`]
    : [oauth, `${origin}${openid}${path}`, `${origin}${path}${openid}`];
}

/** It is kept with every grant and shown to people. */
const MAX_ISSUER_LENGTH = 512;

/** A name that metadata can stand under: no query, no fragment (RFC 8414, section 2). */
export function isValidIssuer(text: string): boolean {
  return text.length <= MAX_ISSUER_LENGTH && isSafeUrl(text) && !text.includes('?');
}

/** Letter by letter: whoever heals a slash or a case here takes one server for another (RFC 8414, section 3.3). */
export function parseMetadata(
  document: MetadataDocument,
  issuer: string,
  fetchedAt: number,
): AuthorizationServerMetadata {
  if (document['issuer'] !== issuer) throw new SignInImpossible('issuer_mismatch');
  const requiredUrl = (name: string): string => {
    const url = document[name];
    if (!isSafeEndpointOf(issuer, url)) throw new SignInImpossible('metadata_invalid');
    return url;
  };
  const optionalUrl = (name: string): string | null =>
    document[name] === undefined || document[name] === null ? null : requiredUrl(name);
  return {
    issuer,
    hasIssuerIdentifier: true,
    authorizationEndpoint: optionalUrl('authorization_endpoint'),
    tokenEndpoint: requiredUrl('token_endpoint'),
    registrationEndpoint: optionalUrl('registration_endpoint'),
    revocationEndpoint: optionalUrl('revocation_endpoint'),
    jwksUri: optionalUrl('jwks_uri'),
    isIssParameterSupported: document['authorization_response_iss_parameter_supported'] === true,
    scopes: readStrings(document['scopes_supported']),
    authMethods: readStrings(document['token_endpoint_auth_methods_supported']),
    codeChallengeMethods: readStrings(document['code_challenge_methods_supported']),
    supportsClientDocuments: document['client_id_metadata_document_supported'] === true,
    dpopAlgorithms: readStrings(document['dpop_signing_alg_values_supported']),
    fetchedAt,
  };
}

/** Where MCP 2025-03-26 says that an authorization server without metadata has its endpoints. */
export function legacyMetadata(origin: string, fetchedAt: number): AuthorizationServerMetadata {
  return {
    issuer: origin,
    hasIssuerIdentifier: true,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    revocationEndpoint: null,
    jwksUri: null,
    isIssParameterSupported: false,
    scopes: null,
    authMethods: null,
    // That revision demands PKCE of every client and server.
    codeChallengeMethods: ['S256'],
    supportsClientDocuments: false,
    dpopAlgorithms: null,
    fetchedAt,
  };
}
