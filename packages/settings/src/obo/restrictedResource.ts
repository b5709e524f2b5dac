import type { ResolvedProvider, KnownLogin } from './resolveProvider.ts';
import {
  armHosts,
  armIds,
  graphHosts,
  graphIds,
  isMicrosoftId,
  microsoftDomains,
} from './microsoftResources.ts';

/** What a token would open that is worth more than any one server: asked for by the operator's word alone. */
export type RestrictedResource = 'graph' | 'arm' | 'microsoft' | 'bare' | 'login' | 'garbled';

/** Scopes of OpenID Connect itself (core section 5.4 and 11): they name no resource. */
const openIdScopes: ReadonlySet<string> = new Set([
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'offline_access',
]);

/** To Entra, a scope is a permission behind the id or the URI of an application. */
const WITH_RESOURCE = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/+[^/])/i;

/** Which of them these scopes, or an audience, ask for. However they are written: who asks has a reason to disguise it. */
export function classifyScopes(
  scopes: readonly string[],
  provider: ResolvedProvider | 'none',
  login: KnownLogin | null,
): RestrictedResource | undefined {
  if (isPossiblyEntra(provider)) {
    const resourceScopes = scopes.filter((scope) => !openIdScopes.has(scope.toLowerCase()));
    // Entra takes a scope without a resource for one of Graph, and none at all for Graph as well.
    if (resourceScopes.length === 0 || !resourceScopes.every((scope) => WITH_RESOURCE.test(scope))) {
      return provider.isMicrosoft ? 'graph' : 'bare';
    }
  }
  return classifyNames(scopes, provider, login);
}

/** The same for texts that name a resource alone. */
export function classifyNames(
  names: readonly string[],
  provider: ResolvedProvider | 'none',
  login: KnownLogin | null,
): RestrictedResource | undefined {
  const loginRuns = [
    ...listLoginRuns(login),
    ...(provider === 'none' || provider.clientId === null ? [] : toSegmentRuns(provider.clientId)),
  ];
  for (const name of names) {
    const segments = splitSegments(name);
    if (!segments) return 'garbled';
    if (segments.some((segment) => isHost(segment, graphHosts) || isId(segment, graphIds))) return 'graph';
    if (segments.some((segment) => isHost(segment, armHosts) || isId(segment, armIds))) return 'arm';
    if (isPossiblyEntra(provider) && segments.some(isMicrosoftSegment)) return 'microsoft';
    if (loginRuns.some((run) => containsRun(segments, run))) return 'login';
  }
  return undefined;
}

/** An issuer under a customer's own name looks like any other. Who knows better describes it in an entry. */
function isPossiblyEntra(provider: ResolvedProvider | 'none'): provider is ResolvedProvider {
  return provider !== 'none' && (provider.isMicrosoft || provider.isDerived);
}

function isMicrosoftSegment(segment: string): boolean {
  return isHost(segment, microsoftDomains) || isMicrosoftId(normalizeId(segment));
}

/** What names the application people sign in to. A token for it would be taken for a sign-in of theirs. */
function listLoginRuns(login: KnownLogin | null): string[][] {
  if (!login) return [];
  const { clientId, audience, scopes } = login;
  return [
    ...(clientId === null ? [] : toSegmentRuns(clientId)),
    ...(audience === null ? [] : toSegmentRuns(audience)),
    ...scopes
      .filter((scope) => !openIdScopes.has(scope))
      .flatMap((scope) => toSegmentRuns(readResource(scope))),
  ];
}

/** Of `api://app/permission` the application: all its permissions are its own, `.default` too. */
function readResource(scope: string): string {
  const withoutPrefix = stripScheme(scope);
  return /^(.+?)\/+[^/]*$/.exec(withoutPrefix)?.[1] ?? withoutPrefix;
}

function toSegmentRuns(text: string): string[][] {
  const segments = splitSegments(stripScheme(text));
  return segments && segments.length > 0 ? [segments] : [];
}

function stripScheme(text: string): string {
  return text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
}

/** How often a text may be encoded over itself before we stop looking. */
const MAX_ENCODING_LAYERS = 3;

/**
 * What stands between the signs of a URL, in one spelling: without encoding, letter case, empty steps, default ports and
 * the dot behind a host. Undefined when it holds what no scope may (RFC 6749 section 3.3), openly or encoded.
 */
function splitSegments(text: string): string[] | undefined {
  let decoded = text;
  for (let layers = 0; decoded.includes('%'); layers += 1) {
    if (layers === MAX_ENCODING_LAYERS || !/%[0-9a-f]{2}/i.test(decoded)) return undefined;
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      return undefined;
    }
  }
  if (!/^[\x21\x23-\x5b\x5d-\x7e]*$/.test(decoded)) return undefined;
  return decoded
    .toLowerCase()
    .split(/[/:@?#&=;,|]+/)
    .map((segment) => segment.replace(/[{}()]/g, '').replace(/\.+$/, ''))
    .filter((segment) => segment !== '' && segment !== '443' && segment !== '80');
}

function isHost(segment: string, hosts: readonly string[]): boolean {
  return hosts.some((host) => segment === host || segment.endsWith(`.${host}`));
}

function isId(segment: string, ids: readonly string[]): boolean {
  return ids.some((id) => normalizeId(id) === normalizeId(segment));
}

function containsRun(segments: readonly string[], run: readonly string[]): boolean {
  return segments.some((_, start) =>
    run.every((expected, step) => normalizeId(segments[start + step] ?? '') === normalizeId(expected)),
  );
}

/** An id is the same with and without its hyphens. */
function normalizeId(segment: string): string {
  const digits = segment.replaceAll('-', '');
  return /^[0-9a-f]{32}$/.test(digits) ? digits : segment;
}
