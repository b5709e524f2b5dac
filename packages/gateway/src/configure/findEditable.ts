import { grants, type AclBit } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { compileStored, withdrawnDefinition } from '../registry/storedDefinition.ts';
import type { StoredDefinition } from '../registry/storedServers.ts';
import type { ConfigureParts } from './parts.ts';
import { asUserServer } from './requireReachable.ts';

export interface Editable {
  /** As the store has it now. */
  readonly stored: StoredDefinition;
  readonly bits: number;
}

type FindParts = Pick<ConfigureParts, 'registry' | 'stored' | 'acl'>;

/**
 * A stored server of this name that the caller may change or remove. What is not theirs to see does not exist, and gives
 * the same answer as what does not; what is the operator's changes where the operator wrote it.
 */
export async function findEditable(
  parts: FindParts,
  principal: UserPrincipal,
  name: string,
  bit: AclBit,
): Promise<Editable> {
  const opened = await findStored(parts, principal, name);
  const server = opened && snapshotOf(opened, opened.definition);
  if (!opened || !server) throw notFound();
  return { stored: opened, bits: requireBit(parts, principal, server, bit) };
}

export interface Removable {
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
  parts: FindParts,
  principal: UserPrincipal,
  name: string,
): Promise<Removable> {
  const opened = await findStored(parts, principal, name);
  const withdrawn = withdrawnDefinition(opened?.definition);
  const isWithdrawn = withdrawn !== undefined;
  const server = opened && snapshotOf(opened, isWithdrawn ? withdrawn : opened.definition);
  if (!opened || !server) throw notFound();
  const isFinishing = isWithdrawn && opened.author === principal.userId;
  if (!isFinishing) requireBit(parts, principal, server, 'DELETE');
  return { stored: opened, server, isWithdrawn };
}

async function findStored(
  { registry, stored, acl }: FindParts,
  principal: UserPrincipal,
  name: string,
): Promise<StoredDefinition | null> {
  const { tenant } = principal;
  const known = registry.find(tenant, name);
  if (known && known.source !== 'user') {
    if (!acl.sees(principal, known) && acl.manageBits(principal, known) === 0) throw notFound();
    throw new GatewayError('MCP_SERVER_MANAGED');
  }
  // One of a moment ago may be known to the store alone.
  return known ? stored.find(tenant, known.id) : stored.findByName(tenant, name);
}

/** What the caller may do with it, if this is among it. */
function requireBit(
  { acl }: FindParts,
  principal: UserPrincipal,
  server: ServerSnapshot,
  bit: AclBit,
): number {
  const bits = acl.manageBits(principal, server);
  if (!acl.sees(principal, server) && bits === 0) throw notFound();
  if (!grants(bits, bit)) throw new GatewayError('MCP_ACL_FORBIDDEN');
  return bits;
}

function snapshotOf(opened: StoredDefinition, definition: unknown): ServerSnapshot | null {
  const compiled = compileStored(opened.name, definition);
  return compiled.ok ? asUserServer(compiled.server, opened) : null;
}

function notFound(): GatewayError {
  return new GatewayError('MCP_SERVER_NOT_FOUND');
}
