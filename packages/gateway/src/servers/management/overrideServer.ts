import { ALL_ACL_BITS, type OverrideView, checkServerName, createFinding } from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import type { Acl } from '../../access/acl.ts';
import { requireAdmin } from '../../access/roles.ts';
import type { Audit } from '../../audit/audit.ts';
import { withAudit } from '../../audit/withAudit.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { ChangeFeed, UserVariableStore } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import {
  type Fields,
  describeValueDestinations,
  findChangedFields,
  findSecurityChanges,
  toFields,
} from '../fields.ts';
import { type Overrides, type StoredOverride, getSecurityDecision, overridesAddress } from '../overrides.ts';
import type { OverridePreview, Registry } from '../registry.ts';
import { findInheritedSecrets } from '../secretFields.ts';
import type { StoredServers } from '../stored.ts';
import { createNameCheck } from './create.ts';
import { type ConfigureParts, createConfigEvent, requireIfMatch } from './editing.ts';
import { loadCurrentCaller, requireOboPermission } from './permissions.ts';
import { maskOverride, requireSameBinding, restoreOverrideSecrets } from './secrets.ts';
import { createConfigError, requireMaxDepth, requireSafeTarget } from './validate.ts';
import { toServerView } from './view.ts';

export interface OverrideParts extends Pick<
  ConfigureParts,
  'refreshRegistry' | 'users' | 'grants' | 'oboTargets' | 'isPlainHttpAllowed'
> {
  readonly roles: Pick<ConfigureParts['roles'], 'permits' | 'refresh'>;
  readonly acl: Pick<Acl, 'removeServer'>;
  readonly variables: Pick<UserVariableStore, 'removeByServer'>;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly overrides: Overrides;
  readonly registry: Pick<Registry, 'find' | 'origin' | 'previewOverride'>;
  readonly stored: Pick<StoredServers, 'listNames'>;
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
  const view = toOverrideView(
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
  const event = createConfigEvent(principal, { action: 'override.put', door: 'admin', server: name });
  return withAudit(parts.audit, event, async (details) => {
    requireAdmin(principal);
    requireMaxDepth(config);
    const before = await parts.overrides.find(tenant, name);
    requireOverrideVersion(ifMatch, before);
    await requireFreeName(parts, tenant, name);
    const { definition, retainedSecrets } = restoreOverrideSecrets(config, before?.definition);
    const currentDefinition = effectiveDefinition(parts, tenant, name, before);
    const preview = parts.registry.previewOverride({ tenant, name, definition });
    const newDefinition = preview.definition;
    requireSameBinding(retainedSecrets, currentDefinition, newDefinition);
    // What the file keeps secret is no administrator's to send anywhere else, with the first override as with any other.
    requireSameBinding(findInheritedSecrets(preview.base, definition), preview.base, newDefinition);
    const settings = requireCompiled(preview);
    const differences = findChangedFields(currentDefinition, newDefinition);
    // An override that says what the file says is still one: it is stored, and that is told.
    const changed = differences.length === 0 ? Object.keys(definition).sort() : differences;
    details.changed = changed;
    await reauthorizeChange(parts, principal, currentDefinition, newDefinition);
    if (findSecurityChanges(currentDefinition, newDefinition).length > 0) {
      const securityDecision = getSecurityDecision(
        { tenant, name, definition, securedBy: userId },
        preview.base,
        newDefinition,
      );
      const isAddressOverridden = overridesAddress(preview.base, newDefinition);
      requireSafeTarget(
        parts,
        { source: 'config', settings, securityDecision },
        { isUntrustedAddress: isAddressOverridden },
      );
    }
    // Rights that somebody had on another server of this name.
    if (!before && preview.isTenantOnly) await parts.acl.removeServer(tenant, name);
    const isSecurityChange =
      findSecurityChanges(currentDefinition, newDefinition).length > 0 ||
      findSecurityChanges(before?.definition, definition).length > 0;
    const stored = await withValuesRemoved(
      parts,
      { tenant, name, hasMoved: changesDestinations(currentDefinition, newDefinition) },
      () =>
        parts.overrides.put(
          { tenant, name, definition, changedBy: userId, isSecurityChange },
          before?.version ?? null,
        ),
    );
    if (stored === 'version_conflict') throw new GatewayError('MCP_VERSION_CONFLICT');
    await parts.refreshRegistry();
    return { result: toOverrideView(parts, tenant, name, stored), changed };
  });
}

/** The server is again as the file has it, or gone where only the override made it. */
export function deleteOverride(
  parts: OverrideParts,
  principal: UserPrincipal,
  name: string,
  { ifMatch }: Condition = {},
): Promise<void> {
  const event = createConfigEvent(principal, { action: 'override.delete', door: 'admin', server: name });
  return withAudit(parts.audit, event, async () => {
    requireAdmin(principal);
    const { tenant } = principal;
    const before = await parts.overrides.find(tenant, name);
    if (!before) throw new GatewayError('MCP_SERVER_NOT_FOUND');
    requireOverrideVersion(ifMatch, before);
    const currentDefinition = effectiveDefinition(parts, tenant, name, before);
    const server = parts.registry.find(tenant, name);
    const { isTenantOnly, definition: newDefinition } = parts.registry.previewOverride({
      tenant,
      name,
      definition: {},
    });
    // Where nothing is left nobody's token goes anywhere.
    await reauthorizeChange(parts, principal, isTenantOnly ? {} : currentDefinition, newDefinition);
    const outcome = await withValuesRemoved(
      parts,
      { tenant, name, hasMoved: changesDestinations(currentDefinition, newDefinition) },
      () => parts.overrides.remove(tenant, name, before.version),
    );
    if (outcome === 'version_conflict') throw new GatewayError('MCP_VERSION_CONFLICT');
    if (outcome === 'missing') throw new GatewayError('MCP_SERVER_NOT_FOUND');
    if (isTenantOnly) await parts.acl.removeServer(tenant, name);
    await parts.refreshRegistry();
    // It is gone, and not only elsewhere.
    if (isTenantOnly && server) await parts.grants.removeAll(tenant, server);
    return { result: undefined };
  });
}

/** A condition on what is not there is never met. */
function requireOverrideVersion(ifMatch: string | undefined, before: StoredOverride | null): void {
  if (before) requireIfMatch(ifMatch, before.version);
  else if (ifMatch !== undefined) throw new GatewayError('MCP_VERSION_CONFLICT');
}

/** An override never takes the place of a server that a user stored. */
async function requireFreeName({ stored }: OverrideParts, tenant: string, name: string): Promise<void> {
  const problem = checkServerName(name);
  if (problem !== undefined)
    throw createConfigError([createFinding([], 'name', problem, 'choose another name')]);
  const isNameTaken = createNameCheck(await stored.listNames(tenant));
  if (isNameTaken(name))
    throw createConfigError([createFinding([], 'name', 'a user has defined a server with this name')]);
}

function requireCompiled({ compiled }: OverridePreview): ServerSettings {
  if (compiled.ok) return compiled.server;
  throw createConfigError(compiled.errors.map(({ path, ...rest }) => ({ ...rest, path: path.slice(2) })));
}

/** The whole definition of a server as an override, or none, makes it. */
function effectiveDefinition(
  { registry }: OverrideParts,
  tenant: string,
  name: string,
  stored: StoredOverride | null,
): unknown {
  return registry.previewOverride(stored ?? { tenant, name, definition: {} }).definition;
}

/** By what the store says now: an override stays, so it may not rest on a role that was taken away a second ago. */
async function reauthorizeChange(
  parts: OverrideParts,
  principal: UserPrincipal,
  currentDefinition: unknown,
  newDefinition: unknown,
): Promise<void> {
  const [caller] = await Promise.all([loadCurrentCaller(parts, principal), parts.roles.refresh()]);
  requireAdmin(caller);
  requireOboPermission(parts, caller, currentDefinition, newDefinition);
}

function changesDestinations(currentDefinition: unknown, newDefinition: unknown): boolean {
  return describeValueDestinations(currentDefinition) !== describeValueDestinations(newDefinition);
}

/**
 * Values that users entered follow nobody to another place. Taken away before the change, so that no failure leaves them
 * behind, and after it, for who enters one meanwhile. What users were given at the server is bound to its address: it is of no
 * use at another, and again of use where it is led back.
 */
async function withValuesRemoved<T>(
  { variables, changes }: OverrideParts,
  { tenant, name, hasMoved }: { readonly tenant: string; readonly name: string; readonly hasMoved: boolean },
  change: () => Promise<T>,
): Promise<T> {
  const removeValues = async () => {
    if (!hasMoved) return;
    await variables.removeByServer(tenant, name);
    await changes.publish({ topic: 'variables', id: '*' });
  };
  await removeValues();
  const outcome = await change();
  await removeValues();
  return outcome;
}

function toOverrideView(
  { registry }: OverrideParts,
  tenant: string,
  name: string,
  stored: StoredOverride | null,
): OverrideView {
  const server = registry.find(tenant, name);
  const rights = { bits: server?.source === 'user' ? ALL_ACL_BITS : 0, isEditor: true };
  return {
    serverName: name,
    override: stored && {
      config: maskOverride(toFields(stored.definition)),
      version: stored.version,
      updatedAt: stored.updatedAt,
      updatedBy: stored.updatedBy,
    },
    effective: server ? toServerView(server, registry.origin(server), rights) : null,
  };
}
