import { type AclBit, formatPath, hasAclBit } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { StoredServerName } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { ConfigureParts } from './editing.ts';
import { findSecurityChanges, toFields } from './fields.ts';
import { type StoredDefinition, readWithdrawn } from './stored.ts';
import { compileStored, toUserServer } from './validate.ts';

export interface EditableServer {
  /** Read from the store. */
  readonly stored: StoredDefinition;
  /** The caller's bits for managing the server. */
  readonly bits: number;
}

type FindEditableParts = Pick<ConfigureParts, 'registry' | 'stored' | 'acl'>;

/**
 * A stored server that the caller may change. Throws MCP_SERVER_NOT_FOUND for a missing server and for one that the
 * caller must not see, and MCP_SERVER_MANAGED for a server of the operator.
 */
export async function findEditable(
  parts: FindEditableParts,
  principal: UserPrincipal,
  name: string,
  bit: AclBit,
): Promise<EditableServer> {
  const stored = await findStored(parts, principal, name);
  const server = toSnapshot(stored, stored.definition);
  return { stored, bits: requireBit(parts, principal, server, bit) };
}

export interface RemovableServer {
  readonly stored: StoredDefinition;
  /** The server as it was before an interrupted removal, if there was one. */
  readonly server: ServerSnapshot;
  /** An authorized removal started and was interrupted. */
  readonly isWithdrawn: boolean;
}

/**
 * A stored server that the caller may remove. The author of a withdrawn server may finish its removal even if the
 * grants are already deleted; otherwise only an administrator could.
 */
export async function findRemovable(
  parts: FindEditableParts,
  principal: UserPrincipal,
  name: string,
): Promise<RemovableServer> {
  const stored = await findStored(parts, principal, name);
  const originalDefinition = readWithdrawn(stored.definition);
  const isWithdrawn = originalDefinition !== undefined;
  const server = toSnapshot(stored, isWithdrawn ? originalDefinition : stored.definition);
  const isFinishing = isWithdrawn && stored.author === principal.userId;
  if (!isFinishing) requireBit(parts, principal, server, 'DELETE');
  return { stored, server, isWithdrawn };
}

async function findStored(
  { registry, stored, acl }: FindEditableParts,
  principal: UserPrincipal,
  name: string,
): Promise<StoredDefinition> {
  const { tenant } = principal;
  const known = registry.find(tenant, name);
  if (known && known.source !== 'user') {
    if (!acl.canUse(principal, known) && acl.getManageBits(principal, known) === 0)
      throw createNotFoundError();
    throw new GatewayError('MCP_SERVER_MANAGED');
  }
  // A server that was just created may not be in the registry of this process yet.
  const found = known ? await stored.find(tenant, known.id) : await stored.findByName(tenant, name);
  if (!found) throw createNotFoundError();
  return found;
}

/** Returns the caller's bits if they include `bit`. */
function requireBit(
  { acl }: FindEditableParts,
  principal: UserPrincipal,
  server: ServerSnapshot,
  bit: AclBit,
): number {
  const bits = acl.getManageBits(principal, server);
  if (!acl.canUse(principal, server) && bits === 0) throw createNotFoundError();
  if (!hasAclBit(bits, bit)) throw new GatewayError('MCP_ACL_FORBIDDEN');
  return bits;
}

function toSnapshot(stored: StoredDefinition, definition: unknown): ServerSnapshot {
  const compiled = compileStored(stored.name, definition);
  if (!compiled.ok) throw createNotFoundError();
  return toUserServer(compiled.server, stored);
}

function createNotFoundError(): GatewayError {
  return new GatewayError('MCP_SERVER_NOT_FOUND');
}

/**
 * Throws unless the caller's role permits defining servers, according to the store: a definition persists, so it must
 * not rest on a permission, role or account that was revoked within the last seconds. Fails if the store is
 * unreachable. Use the returned principal for all further decisions.
 */
export async function reauthorizeWriter(
  parts: Pick<ConfigureParts, 'acl' | 'roles' | 'users'>,
  principal: UserPrincipal,
): Promise<UserPrincipal> {
  const { acl, roles } = parts;
  const [caller] = await Promise.all([loadCurrentCaller(parts, principal), acl.refresh(), roles.refresh()]);
  roles.requirePermission(caller, 'USE');
  roles.requirePermission(caller, 'CREATE');
  return caller;
}

/**
 * The caller with the current role of the account. A request can wait 30 seconds for a server: an account that is
 * disabled or loses its role in the meantime must not complete the request.
 */
export async function loadCurrentCaller(
  { users }: Pick<ConfigureParts, 'users'>,
  principal: UserPrincipal,
): Promise<UserPrincipal> {
  const user = await users.findById(principal.userId);
  if (user?.tenant !== principal.tenant || user.disabledAt !== null) throw new GatewayError('AUTH_REQUIRED');
  return Object.freeze({ ...principal, role: user.role });
}

/**
 * Throws if the caller lacks CONFIGURE_OBO and changes anything but texts and the icon of a server with OBO, before or
 * after the change. An OBO server receives an exchanged token of every caller, so a user who sets its address or scopes
 * decides over other users' tokens. Fields added in the future are locked by default.
 */
export function requireOboPermission(
  { roles }: { readonly roles: Pick<ConfigureParts['roles'], 'permits'> },
  principal: UserPrincipal,
  before: unknown,
  after: unknown,
): void {
  // Reads the plain field: an invalid definition with `obo` counts as well.
  const hasObo = (definition: unknown) => toFields(definition)['obo'] !== undefined;
  if (!hasObo(before) && !hasObo(after)) return;
  const lockedFields = findSecurityChanges(before, after);
  if (lockedFields.length === 0 || roles.permits(principal, 'CONFIGURE_OBO')) return;
  throw new GatewayError('MCP_OBO_FORBIDDEN', {
    detail: 'Forbidden: Insufficient permissions to configure OBO',
    errors: lockedFields.map((key) => ({
      path: formatPath(['config', key]),
      code: 'obo_locked',
      message: 'cannot be changed on a server with On-Behalf-Of',
    })),
  });
}

/** Throws MCP_SERVER_LIMIT if the author already has the maximum number of servers. */
export function requireServerQuota(
  { maxPerUser }: Pick<ConfigureParts, 'maxPerUser'>,
  author: string,
  names: readonly StoredServerName[],
): void {
  const ownServers = names.filter((server) => server.author === author);
  if (ownServers.length >= maxPerUser) throw new GatewayError('MCP_SERVER_LIMIT');
}
