import { type AclBit, formatPath, hasAclBit } from '@behalf/contracts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { StoredServerName } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import type { ServerSnapshot } from '../definition.ts';
import { findSecurityChanges, toFields } from '../fields.ts';
import { type StoredDefinition, compileStored, readWithdrawn } from '../stored.ts';
import type { ConfigureParts } from './editing.ts';
import { toUserServer } from './validate.ts';

export interface EditableServer {
  /** As the store has it now. */
  readonly stored: StoredDefinition;
  readonly bits: number;
}

type FindEditableParts = Pick<ConfigureParts, 'registry' | 'stored' | 'acl'>;

/**
 * A stored server of this name that the caller may change or remove. What is not theirs to see does not exist, and gives
 * the same answer as what does not; what is the operator's changes where the operator wrote it.
 */
export async function findEditable(
  parts: FindEditableParts,
  principal: UserPrincipal,
  name: string,
  bit: AclBit,
): Promise<EditableServer> {
  const stored = await findStored(parts, principal, name);
  const server = stored && toSnapshot(stored, stored.definition);
  if (!stored || !server) throw createNotFoundError();
  return { stored: stored, bits: requireBit(parts, principal, server, bit) };
}

export interface RemovableServer {
  readonly stored: StoredDefinition;
  /** As it was before anybody removed it. */
  readonly server: ServerSnapshot;
  /** Somebody was allowed to remove it and did not get to the end. */
  readonly isWithdrawn: boolean;
}

/**
 * The same for removing it. Its author finishes what was begun also when the rights to it are gone already: otherwise
 * nobody but an administrator could.
 */
export async function findRemovable(
  parts: FindEditableParts,
  principal: UserPrincipal,
  name: string,
): Promise<RemovableServer> {
  const stored = await findStored(parts, principal, name);
  const originalDefinition = readWithdrawn(stored?.definition);
  const isWithdrawn = originalDefinition !== undefined;
  const server = stored && toSnapshot(stored, isWithdrawn ? originalDefinition : stored.definition);
  if (!stored || !server) throw createNotFoundError();
  const isFinishing = isWithdrawn && stored.author === principal.userId;
  if (!isFinishing) requireBit(parts, principal, server, 'DELETE');
  return { stored: stored, server, isWithdrawn };
}

async function findStored(
  { registry, stored, acl }: FindEditableParts,
  principal: UserPrincipal,
  name: string,
): Promise<StoredDefinition | null> {
  const { tenant } = principal;
  const known = registry.find(tenant, name);
  if (known && known.source !== 'user') {
    if (!acl.canUse(principal, known) && acl.getManageBits(principal, known) === 0)
      throw createNotFoundError();
    throw new GatewayError('MCP_SERVER_MANAGED');
  }
  // One of a moment ago may be known to the store alone.
  return known ? stored.find(tenant, known.id) : stored.findByName(tenant, name);
}

/** What the caller may do with it, if this is among it. */
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

function toSnapshot(stored: StoredDefinition, definition: unknown): ServerSnapshot | null {
  const compiled = compileStored(stored.name, definition);
  return compiled.ok ? toUserServer(compiled.server, stored) : null;
}

function createNotFoundError(): GatewayError {
  return new GatewayError('MCP_SERVER_NOT_FOUND');
}

/**
 * Whether the caller's role lets them define servers, by what the store says now: a definition stays, so it may not
 * rest on a permission, a role or an account that was taken away a second ago. Without the store it is refused. What
 * follows is decided for the caller that comes out of it.
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
 * The caller with the role that their account has now. A request may wait half a minute for a server to answer: who was
 * disabled or lost their role meanwhile must not finish what they began.
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
 * An OBO server gets a token of whoever calls it. So whoever decides where it is and which scopes it asks for decides
 * over other people's tokens: without CONFIGURE_OBO nothing of such a server changes but its texts and its picture.
 * The fields are those of the definitions themselves: one that is added tomorrow is locked until somebody frees it.
 */
export function requireOboPermission(
  { roles }: { readonly roles: Pick<ConfigureParts['roles'], 'permits'> },
  principal: UserPrincipal,
  before: unknown,
  after: unknown,
): void {
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

/** Also one that is not valid: whatever it was meant to be, it was meant to be OBO. */
function hasObo(definition: unknown): boolean {
  return toFields(definition)['obo'] !== undefined;
}

export type ServerNames = readonly StoredServerName[];

/** Whether this author may have one more server. */
export function requireServerQuota(
  { maxPerUser }: Pick<ConfigureParts, 'maxPerUser'>,
  author: string,
  names: ServerNames,
): void {
  const ownServers = names.filter((server) => server.author === author);
  if (ownServers.length >= maxPerUser) throw new GatewayError('MCP_SERVER_LIMIT');
}
