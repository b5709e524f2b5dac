import { canonicalUrl } from '../canonicalUrl.ts';
import { isSafeUrl, originOf } from '../safeUrl.ts';
import { SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';
import { readDocument, type Document, type ReadingParts } from './readDocument.ts';
import { scopeNames } from './scopeNames.ts';

const PLACE = '/.well-known/oauth-protected-resource';
/** More than these are nobody's. */
const MOST_SERVERS = 10;

/** What a server says of itself (RFC 9728). */
export interface ProtectedResource {
  /** The name it goes by, in our spelling. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[] | null;
  /** It takes no token that is not bound to a key (RFC 9728, section 2). */
  readonly wantsBound: boolean;
}

/** Null where it publishes nothing. `place`: what its challenge named, which is then the only place. */
export async function readProtectedResource(
  parts: ReadingParts,
  target: SignInTarget,
  place: string | undefined,
): Promise<ProtectedResource | null> {
  for (const url of place === undefined ? placesOf(target) : [place]) {
    if (!isSafeUrl(url)) throw new SignInImpossible('metadata_invalid');
    const document = await readDocument(parts, url);
    if (document) return checked(document, target, url);
  }
  if (place !== undefined) throw new SignInImpossible('no_metadata');
  return null;
}

function placesOf({ canonicalUrl: name }: SignInTarget): readonly string[] {
  const { origin, pathname } = new URL(name);
  const root = `${origin}${PLACE}`;
  return pathname === '/' ? [root] : [`${root}${pathname}`, root];
}

function checked(document: Document, target: SignInTarget, url: string): ProtectedResource {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = document;
  const name = typeof resource === 'string' ? canonicalUrl(resource, { query: true }) : undefined;
  if (name === undefined || !namesOf(target, url).includes(name))
    throw new SignInImpossible('resource_mismatch');
  return {
    resource: name,
    authorizationServers: textsOf(servers)?.slice(0, MOST_SERVERS) ?? [],
    scopes: scopeNames(scopes),
    wantsBound: document['dpop_bound_access_tokens_required'] === true,
  };
}

/**
 * What the document may call the server (RFC 9728, section 3.3): the address that is called, or what the operator says in its
 * place. Of an operator's server the document at the root of the origin may also speak for all of it; one from elsewhere may not, and
 * of nobody else's server any: one of several tenants of a host would get tokens that are good at the others.
 */
function namesOf(target: SignInTarget, url: string): readonly (string | undefined)[] {
  const origin = originOf(target.canonicalUrl);
  const { resource } = target.oauth;
  return [
    target.canonicalUrl,
    canonicalUrl(target.url, { query: true }),
    ...(target.isOperators && url === `${origin}${PLACE}` ? [origin] : []),
    ...(target.isOperators && resource !== undefined ? [canonicalUrl(resource, { query: true })] : []),
  ];
}

/** As many as are kept of what somebody publishes. */
const MOST_TEXTS = 1_000;

export function textsOf(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return null;
  return value.slice(0, MOST_TEXTS);
}
