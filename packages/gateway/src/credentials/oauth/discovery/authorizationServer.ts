import { isSafeEndpointOf, isSafeUrl } from '../safeUrl.ts';
import { SignInImpossible } from '../signInProblem.ts';
import { textsOf } from './protectedResource.ts';
import type { Document } from './readDocument.ts';

/** An authorization server as it describes itself, every address of it checked. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** False: the definition gives endpoints and no name; the token endpoint stands for it. */
  readonly isNamed: boolean;
  /** Null: it gives tokens to programs alone. */
  readonly authorizationEndpoint: string | null;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | null;
  readonly revocationEndpoint: string | null;
  readonly jwksUri: string | null;
  /** RFC 9207: each of its responses names it. */
  readonly sendsIssuer: boolean;
  /** Null: it does not say. */
  readonly scopes: readonly string[] | null;
  readonly authMethods: readonly string[] | null;
  readonly challengeMethods: readonly string[] | null;
  /** `client_id` may be the address of a document about the client. */
  readonly readsClientDocuments: boolean;
  /** Algorithms of DPoP proofs (RFC 9449, section 5.1). Null: it does not say. */
  readonly proofAlgorithms: readonly string[] | null;
  readonly fetchedAt: number;
}

/** Where the metadata of an issuer stands, in order (RFC 8414, section 3; OpenID Connect Discovery 1.0, section 4). */
export function metadataPlaces(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, '');
  const oauth = `${origin}/.well-known/oauth-authorization-server${path}`;
  const openid = '/.well-known/openid-configuration';
  return path === ''
    ? [oauth, `${origin}${openid}`]
    : [oauth, `${origin}${openid}${path}`, `${origin}${path}${openid}`];
}

/** It is kept with every grant and shown to people. */
const LONGEST_ISSUER = 512;

/** A name that metadata can stand under: no query, no fragment (RFC 8414, section 2). */
export function isIssuer(text: string): boolean {
  return text.length <= LONGEST_ISSUER && isSafeUrl(text) && !text.includes('?');
}

/** Letter by letter: whoever heals a slash or a case here takes one server for another (RFC 8414, section 3.3). */
export function readMetadata(document: Document, issuer: string, fetchedAt: number): AuthorizationServer {
  if (document['issuer'] !== issuer) throw new SignInImpossible('issuer_mismatch');
  const required = (name: string): string => {
    const url = document[name];
    if (!isSafeEndpointOf(issuer, url)) throw new SignInImpossible('metadata_invalid');
    return url;
  };
  const optional = (name: string): string | null =>
    document[name] === undefined || document[name] === null ? null : required(name);
  return {
    issuer,
    isNamed: true,
    authorizationEndpoint: optional('authorization_endpoint'),
    tokenEndpoint: required('token_endpoint'),
    registrationEndpoint: optional('registration_endpoint'),
    revocationEndpoint: optional('revocation_endpoint'),
    jwksUri: optional('jwks_uri'),
    sendsIssuer: document['authorization_response_iss_parameter_supported'] === true,
    scopes: textsOf(document['scopes_supported']),
    authMethods: textsOf(document['token_endpoint_auth_methods_supported']),
    challengeMethods: textsOf(document['code_challenge_methods_supported']),
    readsClientDocuments: document['client_id_metadata_document_supported'] === true,
    proofAlgorithms: textsOf(document['dpop_signing_alg_values_supported']),
    fetchedAt,
  };
}

/** Where MCP 2025-03-26 says that an authorization server without metadata has its endpoints. */
export function withoutMetadata(origin: string, fetchedAt: number): AuthorizationServer {
  return {
    issuer: origin,
    isNamed: true,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    revocationEndpoint: null,
    jwksUri: null,
    sendsIssuer: false,
    scopes: null,
    authMethods: null,
    // That revision demands PKCE of every client and server.
    challengeMethods: ['S256'],
    readsClientDocuments: false,
    proofAlgorithms: null,
    fetchedAt,
  };
}
