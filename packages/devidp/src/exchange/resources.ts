/** An API as target of token exchanges. */
export interface DevResource {
  /** Its identifier in scopes and `audience`, such as `api://mail`. */
  id: string;
  /** `aud` of its tokens. Default: the ID. */
  audience?: string;
  /** Additional values of `resource` (RFC 8707) for it. */
  locations?: readonly string[];
  scopes: readonly string[];
  /** IDs of the users who consented. Default: all. */
  consentedBy?: readonly string[];
  tokenSeconds?: number;
}

/** A resource with the requested scopes. */
export interface ResourceTarget {
  readonly resource: DevResource;
  readonly scopes: readonly string[];
}

export type TargetFault =
  | { readonly fault: 'scope-missing' | 'default-mixed' | 'several-resources' | 'no-consent' }
  | { readonly fault: 'unknown-resource' | 'unknown-scope'; readonly name: string };

/** Scopes that concern the response, not the resource. */
const OPENID_SCOPES: readonly string[] = ['openid', 'profile', 'email', 'offline_access'];

/** Resolves `<resource>/<name>` or `<resource>/.default`. All scopes must name the same resource. */
export function resolveTargetByScope(
  scope: string,
  resources: readonly DevResource[],
): ResourceTarget | TargetFault {
  const requested = parseScopes(scope).map((text) => {
    const slash = text.lastIndexOf('/');
    return { resource: text.slice(0, Math.max(slash, 0)), name: text.slice(slash + 1) };
  });
  const [first] = requested;
  if (!first) return { fault: 'scope-missing' };
  if (requested.some(({ resource }) => resource !== first.resource)) return { fault: 'several-resources' };
  const resource = resources.find(({ id }) => id === first.resource);
  if (!resource) return { fault: 'unknown-resource', name: first.resource };
  return resolveScopes(
    resource,
    requested.map(({ name }) => name),
  );
}

/** Resolves `audience` and `resource`. Scopes may have the resource as prefix. */
export function resolveTargetByName(
  { targets, scope }: { targets: readonly string[]; scope: string },
  resources: readonly DevResource[],
): ResourceTarget | TargetFault {
  const matches = targets.map((name) => ({
    name,
    resource: resources.find(
      ({ id, audience, locations = [] }) => id === name || audience === name || locations.includes(name),
    ),
  }));
  const unknown = matches.find(({ resource }) => resource === undefined);
  if (unknown) return { fault: 'unknown-resource', name: unknown.name };
  const resource = matches[0]?.resource;
  if (!resource) return resolveTargetByScope(scope, resources);
  if (matches.some((other) => other.resource !== resource)) return { fault: 'several-resources' };
  const prefix = `${resource.id}/`;
  const names = parseScopes(scope).map((text) =>
    text.startsWith(prefix) ? text.slice(prefix.length) : text,
  );
  return resolveScopes(resource, names.length === 0 ? ['.default'] : names);
}

/** Checked last: an unknown resource is reported before missing consent. */
export function requireConsent(
  target: ResourceTarget | TargetFault,
  userId: string,
): ResourceTarget | TargetFault {
  if ('fault' in target) return target;
  const { consentedBy } = target.resource;
  return consentedBy && !consentedBy.includes(userId) ? { fault: 'no-consent' } : target;
}

export function getResourceAudience({ id, audience }: DevResource): string {
  return audience ?? id;
}

function resolveScopes(resource: DevResource, names: readonly string[]): ResourceTarget | TargetFault {
  if (names.includes('.default')) {
    // `.default` means all consented scopes, so it cannot be combined with another scope.
    return names.length > 1 ? { fault: 'default-mixed' } : { resource, scopes: resource.scopes };
  }
  const unknown = names.find((name) => !resource.scopes.includes(name));
  if (unknown !== undefined) return { fault: 'unknown-scope', name: unknown };
  return { resource, scopes: names };
}

function parseScopes(text: string): string[] {
  const scopes = text.split(/\s+/).filter((scope) => scope !== '');
  return [...new Set(scopes)].filter((scope) => !OPENID_SCOPES.includes(scope));
}
