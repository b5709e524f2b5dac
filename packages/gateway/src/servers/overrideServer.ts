import { ALL_ACL_BITS, type OverrideView, checkServerName, createFinding } from '@behalf/contracts';
import type { Acl } from '../access/acl.ts';
import { requireAdmin } from '../access/roles.ts';
import type { Audit } from '../audit/audit.ts';
import { withAudit } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ChangeFeed, UserVariableStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { createNameCheck } from './create.ts';
import { type ConfigureParts, type IfMatchCondition, createConfigEvent, requireIfMatch } from './editing.ts';
import { type Fields, createConfigError, findChangedFields, findSecurityChanges } from './fields.ts';
import { type Overrides, type StoredOverride, getSecurityDecision, overridesAddress } from './overrides.ts';
import { loadCurrentCaller, requireOboPermission } from './permissions.ts';
import type { Registry } from './registry.ts';
import {
  describeValueDestinations,
  findInheritedSecrets,
  maskSecrets,
  requireSameBinding,
  restoreOverrideSecrets,
} from './secrets.ts';
import type { StoredServers } from './stored.ts';
import { requireCompiled, requireMaxDepth, requireSafeTarget } from './validate.ts';
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

/** The override of a server and the resulting server. */
export async function getOverride(
  parts: OverrideParts,
  principal: UserPrincipal,
  name: string,
): Promise<OverrideView> {
  requireAdmin(principal);
  const { tenant } = principal;
  const view = toOverrideView(parts, tenant, name, await parts.overrides.find(tenant, name));
  if (!view.override && !view.effective) throw new GatewayError('MCP_SERVER_NOT_FOUND');
  return view;
}

/** Overrides a server of the configuration file, or creates a server for this tenant only. */
export function putOverride(
  parts: OverrideParts,
  principal: UserPrincipal,
  name: string,
  { config, ifMatch }: IfMatchCondition & { readonly config: Fields },
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
    const current = getEffectiveDefinition(parts, tenant, name, before);
    const { base, isTenantOnly, ...preview } = parts.registry.previewOverride({ tenant, name, definition });
    const next = preview.definition;
    requireSameBinding(retainedSecrets, current, next);
    // An administrator must not send secrets of the configuration file to another destination.
    requireSameBinding(findInheritedSecrets(base, definition), base, next);
    const settings = requireCompiled(preview.compiled);
    const differences = findChangedFields(current, next);
    // An override without any effect is stored too; the audit event then lists its fields.
    const changed = differences.length === 0 ? Object.keys(definition).sort() : differences;
    details.changed = changed;
    await reauthorizeChange(parts, principal, current, next);
    const changesSecurity = findSecurityChanges(current, next).length > 0;
    if (changesSecurity) {
      const securityDecision = getSecurityDecision(
        { tenant, name, definition, securedBy: userId },
        base,
        next,
      );
      requireSafeTarget(
        parts,
        { source: 'config', settings, securityDecision },
        { isUntrustedAddress: overridesAddress(base, next) },
      );
    }
    // Removes grants of an earlier server with this name.
    if (!before && isTenantOnly) await parts.acl.removeServer(tenant, name);
    const isSecurityChange =
      changesSecurity || findSecurityChanges(before?.definition, definition).length > 0;
    const stored = await withValuesRemoved(parts, { tenant, name }, [current, next], () =>
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

/** Restores the server of the configuration file, or removes a server that exists for this tenant only. */
export function deleteOverride(
  parts: OverrideParts,
  principal: UserPrincipal,
  name: string,
  { ifMatch }: IfMatchCondition = {},
): Promise<void> {
  const { tenant } = principal;
  const event = createConfigEvent(principal, { action: 'override.delete', door: 'admin', server: name });
  return withAudit(parts.audit, event, async () => {
    requireAdmin(principal);
    const before = await parts.overrides.find(tenant, name);
    if (!before) throw new GatewayError('MCP_SERVER_NOT_FOUND');
    requireOverrideVersion(ifMatch, before);
    const current = getEffectiveDefinition(parts, tenant, name, before);
    const server = parts.registry.find(tenant, name);
    const { isTenantOnly, definition: next } = parts.registry.previewOverride({
      ...{ tenant, name, definition: {} },
    });
    // If no server remains, no token is sent anywhere, so the OBO permission is not required.
    await reauthorizeChange(parts, principal, isTenantOnly ? {} : current, next);
    const outcome = await withValuesRemoved(parts, { tenant, name }, [current, next], () =>
      parts.overrides.remove(tenant, name, before.version),
    );
    if (outcome === 'version_conflict') throw new GatewayError('MCP_VERSION_CONFLICT');
    if (outcome === 'missing') throw new GatewayError('MCP_SERVER_NOT_FOUND');
    if (isTenantOnly) await parts.acl.removeServer(tenant, name);
    await parts.refreshRegistry();
    if (isTenantOnly && server) await parts.grants.removeAll(tenant, server);
    return { result: undefined };
  });
}

/** If there is no override, no `If-Match` condition is met. */
function requireOverrideVersion(ifMatch: string | undefined, before: StoredOverride | null): void {
  if (before) requireIfMatch(ifMatch, before.version);
  else if (ifMatch !== undefined) throw new GatewayError('MCP_VERSION_CONFLICT');
}

/** An override must not replace a server that a user stored. */
async function requireFreeName({ stored }: OverrideParts, tenant: string, name: string): Promise<void> {
  const problem = checkServerName(name);
  if (problem !== undefined)
    throw createConfigError([createFinding([], 'name', problem, 'choose another name')]);
  const isNameTaken = createNameCheck(await stored.listNames(tenant));
  if (isNameTaken(name))
    throw createConfigError([createFinding([], 'name', 'a user has defined a server with this name')]);
}

/** The merged definition of a server with the stored override, or without any. */
function getEffectiveDefinition(
  { registry }: OverrideParts,
  tenant: string,
  name: string,
  stored: StoredOverride | null,
): unknown {
  return registry.previewOverride(stored ?? { tenant, name, definition: {} }).definition;
}

/** Reads the account and the roles from the store: an override persists, so it must not rest on a revoked role. */
async function reauthorizeChange(
  parts: OverrideParts,
  principal: UserPrincipal,
  current: unknown,
  next: unknown,
): Promise<void> {
  const [caller] = await Promise.all([loadCurrentCaller(parts, principal), parts.roles.refresh()]);
  requireAdmin(caller);
  requireOboPermission(parts, caller, current, next);
}

/**
 * If the destination changes, deletes the values that users entered: before the change, so that a failure leaves none
 * behind, and afterwards for values entered in between. OAuth grants stay: they are bound to the old address and become
 * usable again if it is restored.
 */
async function withValuesRemoved<T>(
  { variables, changes }: OverrideParts,
  server: { readonly tenant: string; readonly name: string },
  [current, next]: readonly [current: unknown, next: unknown],
  change: () => Promise<T>,
): Promise<T> {
  const hasMoved = describeValueDestinations(current) !== describeValueDestinations(next);
  const removeValues = async () => {
    if (!hasMoved) return;
    await variables.removeByServer(server.tenant, server.name);
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
      config: maskSecrets(stored.definition),
      version: stored.version,
      updatedAt: stored.updatedAt,
      updatedBy: stored.updatedBy,
    },
    effective: server ? toServerView(server, registry.origin(server), rights) : null,
  };
}
