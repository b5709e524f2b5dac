import { ALL_ACL_BITS, finding, serverNameProblem, type OverrideView } from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import { recorded } from '../access/recorded.ts';
import { requireAdmin } from '../access/requireAdmin.ts';
import type { Acl } from '../access/acl.ts';
import type { Audit } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ChangeFeed, UserVariableStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { changedFields, changedSecurity, fieldsOf, type Fields } from '../registry/canonical.ts';
import { isElsewhere, securedOf } from '../registry/override.ts';
import type { Registry, TriedOverride } from '../registry/registry.ts';
import { keptOfBase } from '../registry/secretBindings.ts';
import type { StoredServers } from '../registry/storedServers.ts';
import { placesOf } from '../registry/valuePlaces.ts';
import { configChange } from './configChange.ts';
import { currentCaller } from './currentCaller.ts';
import { requireMatch } from './ifMatch.ts';
import { requireSameBinding } from './keptSecrets.ts';
import type { Overrides, StoredOverride } from './overrides.ts';
import { fillOverride, maskOverride } from './overrideSecrets.ts';
import type { ConfigureParts } from './parts.ts';
import { invalid, requireFlat } from './readInput.ts';
import { requireOboPermission } from './requireOboPermission.ts';
import { requireTarget } from './requireTarget.ts';
import { takenNames } from './serverSlug.ts';
import { serverView } from './serverView.ts';

export interface OverrideParts extends Pick<
  ConfigureParts,
  'refreshed' | 'users' | 'grants' | 'oboTargets' | 'declaresHttp'
> {
  readonly roles: Pick<ConfigureParts['roles'], 'permits' | 'refresh'>;
  readonly acl: Pick<Acl, 'removeServer'>;
  readonly variables: Pick<UserVariableStore, 'removeOfServer'>;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly overrides: Overrides;
  readonly registry: Pick<Registry, 'find' | 'origin' | 'tryOverride'>;
  readonly stored: Pick<StoredServers, 'roster'>;
  readonly audit: Audit;
}

interface Condition {
  /** The `If-Match` of the request. */
  readonly ifMatch?: string | undefined;
}

/** What is overridden of a server, and what the server has become by it. */
export async function getOverride(
  parts: OverrideParts,
  principal: UserPrincipal,
  name: string,
): Promise<OverrideView> {
  requireAdmin(principal);
  const view = overrideView(
    parts,
    principal.tenant,
    name,
    await parts.overrides.find(principal.tenant, name),
  );
  if (!view.override && !view.effective) throw new GatewayError('MCP_SERVER_NOT_FOUND');
  return view;
}

/** Lays a definition over a server of the file, or makes one for this tenant alone. Compiled before it is stored. */
export function putOverride(
  parts: OverrideParts,
  principal: UserPrincipal,
  name: string,
  { config, ifMatch }: Condition & { readonly config: Fields },
): Promise<OverrideView> {
  const { tenant, userId } = principal;
  const attempt = configChange(principal, { action: 'override.put', door: 'admin', server: name });
  return recorded(parts.audit, attempt, async (trail) => {
    requireAdmin(principal);
    requireFlat(config);
    const before = await parts.overrides.find(tenant, name);
    requireVersion(ifMatch, before);
    await requireName(parts, tenant, name);
    const { definition, kept } = fillOverride(config, before?.definition);
    const was = effective(parts, tenant, name, before);
    const tried = parts.registry.tryOverride({ tenant, name, definition });
    const next = tried.definition;
    requireSameBinding(kept, was, next);
    // What the file keeps secret is no administrator's to send anywhere else, with the first override as with any other.
    requireSameBinding(keptOfBase(tried.base, definition), tried.base, next);
    const settings = requireCompiled(tried);
    const differing = changedFields(was, next);
    // An override that says what the file says is still one: it is stored, and that is told.
    const changed = differing.length === 0 ? Object.keys(definition).sort() : differing;
    trail.changed = changed;
    await requireStillAllowed(parts, principal, was, next);
    if (changedSecurity(was, next).length > 0) {
      const secured = securedOf({ tenant, name, definition, securedBy: userId }, tried.base, next);
      const isMovedAway = isElsewhere(tried.base, next);
      requireTarget(parts, { source: 'config', settings, secured }, { isElsewhere: isMovedAway });
    }
    // Rights that somebody had on another server of this name.
    if (!before && tried.isOwn) await parts.acl.removeServer(tenant, name);
    const isDecision =
      changedSecurity(was, next).length > 0 || changedSecurity(before?.definition, definition).length > 0;
    const stored = await withoutValues(parts, { tenant, name, isMoved: isMoved(was, next) }, () =>
      parts.overrides.put({ tenant, name, definition, by: userId, isDecision }, before?.version ?? null),
    );
    if (stored === 'version_conflict') throw new GatewayError('MCP_VERSION_CONFLICT');
    await parts.refreshed();
    return { result: overrideView(parts, tenant, name, stored), changed };
  });
}

/** The server is again as the file has it, or gone where only the override made it. */
export function deleteOverride(
  parts: OverrideParts,
  principal: UserPrincipal,
  name: string,
  { ifMatch }: Condition = {},
): Promise<void> {
  const attempt = configChange(principal, { action: 'override.delete', door: 'admin', server: name });
  return recorded(parts.audit, attempt, async () => {
    requireAdmin(principal);
    const { tenant } = principal;
    const before = await parts.overrides.find(tenant, name);
    if (!before) throw new GatewayError('MCP_SERVER_NOT_FOUND');
    requireVersion(ifMatch, before);
    const was = effective(parts, tenant, name, before);
    const server = parts.registry.find(tenant, name);
    const { isOwn, definition: next } = parts.registry.tryOverride({ tenant, name, definition: {} });
    // Where nothing is left nobody's token goes anywhere.
    await requireStillAllowed(parts, principal, isOwn ? {} : was, next);
    const outcome = await withoutValues(parts, { tenant, name, isMoved: isMoved(was, next) }, () =>
      parts.overrides.remove(tenant, name, before.version),
    );
    if (outcome === 'version_conflict') throw new GatewayError('MCP_VERSION_CONFLICT');
    if (outcome === 'missing') throw new GatewayError('MCP_SERVER_NOT_FOUND');
    if (isOwn) await parts.acl.removeServer(tenant, name);
    await parts.refreshed();
    // It is gone, and not only elsewhere.
    if (isOwn && server) await parts.grants.removeAll(tenant, server);
    return { result: undefined };
  });
}

/** A condition on what is not there is never met. */
function requireVersion(ifMatch: string | undefined, before: StoredOverride | null): void {
  if (before) requireMatch(ifMatch, before.version);
  else if (ifMatch !== undefined) throw new GatewayError('MCP_VERSION_CONFLICT');
}

/** An override never takes the place of a server that a user stored. */
async function requireName({ stored }: OverrideParts, tenant: string, name: string): Promise<void> {
  const problem = serverNameProblem(name);
  if (problem !== undefined) throw invalid([finding([], 'name', problem, 'choose another name')]);
  const isTaken = takenNames(await stored.roster(tenant));
  if (isTaken(name)) throw invalid([finding([], 'name', 'a server of a user has this name')]);
}

function requireCompiled({ compiled }: TriedOverride): ServerSettings {
  if (compiled.ok) return compiled.server;
  throw invalid(compiled.errors.map(({ path, ...rest }) => ({ ...rest, path: path.slice(2) })));
}

/** The whole definition of a server as an override, or none, makes it. */
function effective(
  { registry }: OverrideParts,
  tenant: string,
  name: string,
  stored: StoredOverride | null,
): unknown {
  return registry.tryOverride(stored ?? { tenant, name, definition: {} }).definition;
}

/** By what the store says now: an override stays, so it may not rest on a role that was taken away a second ago. */
async function requireStillAllowed(
  parts: OverrideParts,
  principal: UserPrincipal,
  was: unknown,
  next: unknown,
): Promise<void> {
  const [caller] = await Promise.all([currentCaller(parts, principal), parts.roles.refresh()]);
  requireAdmin(caller);
  requireOboPermission(parts, caller, was, next);
}

function isMoved(was: unknown, next: unknown): boolean {
  return placesOf(was) !== placesOf(next);
}

/**
 * Values that users entered follow nobody to another place. Taken away before the change, so that no failure leaves them
 * behind, and after it, for who enters one meanwhile. What users were given at the server is bound to its address: it is of no
 * use at another, and again of use where it is led back.
 */
async function withoutValues<T>(
  { variables, changes }: OverrideParts,
  { tenant, name, isMoved }: { readonly tenant: string; readonly name: string; readonly isMoved: boolean },
  change: () => Promise<T>,
): Promise<T> {
  const forget = async () => {
    if (!isMoved) return;
    await variables.removeOfServer(tenant, name);
    await changes.publish({ topic: 'variables', id: '*' });
  };
  await forget();
  const outcome = await change();
  await forget();
  return outcome;
}

function overrideView(
  { registry }: OverrideParts,
  tenant: string,
  name: string,
  stored: StoredOverride | null,
): OverrideView {
  const server = registry.find(tenant, name);
  const audience = { bits: server?.source === 'user' ? ALL_ACL_BITS : 0, isEditor: true };
  return {
    serverName: name,
    override: stored && {
      config: maskOverride(fieldsOf(stored.definition)),
      version: stored.version,
      updatedAt: stored.updatedAt,
      updatedBy: stored.updatedBy,
    },
    effective: server ? serverView(server, registry.origin(server), audience) : null,
  };
}
