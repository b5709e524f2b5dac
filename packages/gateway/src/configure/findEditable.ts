import { hasAclBit, type AclBit } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { compileStored, readWithdrawn } from '../registry/storedDefinition.ts';
import type { StoredDefinition } from '../registry/storedServers.ts';
import type { ConfigureParts } from './parts.ts';
import { toUserServer } from './requireReachable.ts';

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
