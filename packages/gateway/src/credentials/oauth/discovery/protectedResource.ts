import { canonicalizeUrl } from '../canonicalUrl.ts';
import { isSafeUrl, getOrigin } from '../safeUrl.ts';
import { SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';
import { readDocument, type MetadataDocument, type DocumentReaderParts } from './readDocument.ts';
import { parseScopeNames } from './scopeNames.ts';

const WELL_KNOWN_PATH = '/.well-known/oauth-protected-resource';
/** More than these are nobody's. */
const MAX_SERVERS = 10;

/** What a server says of itself (RFC 9728). */
export interface ProtectedResource {
  /** The name it goes by, in our spelling. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[] | null;
  /** It takes no token that is not bound to a key (RFC 9728, section 2). */
  readonly requiresDpop: boolean;
}

/** Null where it publishes nothing. `place`: what its challenge named, which is then the only place. */
export async function readProtectedResource(
  parts: DocumentReaderParts,
  target: SignInTarget,
  metadataUrl: string | undefined,
): Promise<ProtectedResource | null> {
  for (const url of metadataUrl === undefined ? wellKnownUrls(target) : [metadataUrl]) {
    if (!isSafeUrl(url)) throw new SignInImpossible('metadata_invalid');
    const document = await readDocument(parts, url);
    if (document) return parseProtectedResource(document, target, url);
  }
  if (metadataUrl !== undefined) throw new SignInImpossible('no_metadata');
  return null;
}

function wellKnownUrls({ canonicalUrl: serverUrl }: SignInTarget): readonly string[] {
  const { origin, pathname } = new URL(serverUrl);
  const root = `${origin}${WELL_KNOWN_PATH}`;
  return pathname === '/' ? [root] : [`${root}${pathname}`, root];
}

function parseProtectedResource(
  document: MetadataDocument,
  target: SignInTarget,
  url: string,
): ProtectedResource {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = document;
  const resourceUrl =
    typeof resource === 'string' ? canonicalizeUrl(resource, { includeQuery: true }) : undefined;
  if (resourceUrl === undefined || !listAcceptedResources(target, url).includes(resourceUrl))
    throw new SignInImpossible('resource_mismatch');
  return {
    resource: resourceUrl,
    authorizationServers: readStrings(servers)?.slice(0, MAX_SERVERS) ?? [],
    scopes: parseScopeNames(scopes),
    requiresDpop: document['dpop_bound_access_tokens_required'] === true,
  };
}

/**
 * What the document may call the server (RFC 9728, section 3.3): the address that is called, or what the operator says in its
 * place. Of an operator's server the document at the root of the origin may also speak for all of it; one from elsewhere may not, and
 * of nobody else's server any: one of several tenants of a host would get tokens that are good at the others.
 */
function listAcceptedResources(target: SignInTarget, url: string): readonly (string | undefined)[] {
  const origin = getOrigin(target.canonicalUrl);
  const { resource } = target.oauth;
  return [
    target.canonicalUrl,
    canonicalizeUrl(target.url, { includeQuery: true }),
    ...(target.isOperatorDefined && url === `${origin}${WELL_KNOWN_PATH}` ? [origin] : []),
    ...(target.isOperatorDefined && resource !== undefined
      ? [canonicalizeUrl(resource, { includeQuery: true })]
      : []),
  ];
}

/** As many as are kept of what somebody publishes. */
const MAX_STRINGS = 1_000;

export function readStrings(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return null;
  return value.slice(0, MAX_STRINGS);
}
