import { aclRoles, hasAclBit, type ErrorCode, type ShareRequest, type SharedWith } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { aclId, type AclKey, type AclRecord } from '../ports/index.ts';

/** What the decision rests on. */
export interface SharingContext {
  readonly tenant: string;
  readonly serverId: string;
  /** As they are now. */
  readonly rows: readonly AclRecord[];
  /** What the caller may do with it: nobody gives or takes what they do not have. */
  readonly callerBits: number;
  /** Which bits of it there are to have. */
  readonly grantableBits: number;
  /** Whether the definition is for everybody, whatever the rows say. */
  readonly isPublicByDefinition: boolean;
  /** Whether the last owner may go: an administrator can give it to somebody again. */
  readonly canRemoveLastOwner: boolean;
  /** What somebody is told who gives or takes what they do not have. */
  readonly forbiddenCode: ErrorCode;
  readonly grantedBy: string;
  readonly grantedAt: number;
}

export interface SharingDecision {
  readonly put: readonly AclRecord[];
  readonly remove: readonly string[];
  /** Who is concerned, such as `user:<id>`. */
  readonly changed: readonly string[];
  /** Whether more becomes public than was, or something else: by the word, or by the role that everybody begins with. */
  readonly widensPublicAccess: boolean;
}

const MAX_ROWS = 500;

/** What a request would write, or why it must not. */
export function decideSharing(sharing: SharingContext, request: ShareRequest): SharingDecision {
  const { tenant, serverId, callerBits, grantableBits, grantedBy, grantedAt } = sharing;
  const rows = new Map(sharing.rows.map((row) => [row.id, row]));
  const toKey = (principalType: AclKey['principalType'], principalId: string): AclKey => ({
    ...{ tenant, serverId, principalType, principalId },
  });
  const put: AclRecord[] = [];
  const remove: string[] = [];

  function grant(key: AclKey, bits: number): void {
    const id = aclId(key);
    const before = rows.get(id)?.bits ?? 0;
    if (before === bits) return;
    if (((bits | (before & grantableBits)) & ~callerBits) !== 0)
      throw new GatewayError(sharing.forbiddenCode);
    put.push({ ...key, id, bits, grantedBy, grantedAt });
  }

  function revoke(key: AclKey): void {
    const id = aclId(key);
    const before = rows.get(id);
    if (!before) return;
    if ((before.bits & grantableBits & ~callerBits) !== 0) throw new GatewayError(sharing.forbiddenCode);
    remove.push(id);
  }

  requireUnique([...request.updated, ...request.removed]);
  for (const { type, id, accessRoleId } of request.updated) grant(toKey(type, id), aclRoles[accessRoleId]);
  for (const { type, id } of request.removed) revoke(toKey(type, id));

  const everyoneKey = toKey('public', '');
  if (!request.public && sharing.isPublicByDefinition) {
    throw new GatewayError('MCP_SERVER_MANAGED', {
      detail: 'The definition already grants access to all users.',
    });
  }
  const publicBits = request.public ? aclRoles[request.publicAccessRoleId ?? 'mcpServer_viewer'] : 0;
  const isAlreadyPublic = sharing.isPublicByDefinition && publicBits === aclRoles.mcpServer_viewer;
  if (publicBits === 0) revoke(everyoneKey);
  else if (!isAlreadyPublic) grant(everyoneKey, publicBits);

  const after = new Map(rows);
  for (const row of put) after.set(row.id, row);
  for (const id of remove) after.delete(id);
  if (after.size > MAX_ROWS) {
    throw createInvalidError('updated', 'too_many', `It can be shared with at most ${MAX_ROWS} principals.`);
  }
  if (!sharing.canRemoveLastOwner && hasOwner(rows) && !hasOwner(after)) {
    throw createInvalidError('removed', 'last_owner', 'At least one user must remain owner.');
  }
  const removedRows = remove.flatMap((id) => rows.get(id) ?? []);
  return {
    put,
    remove,
    changed: [...put, ...removedRows].map(formatPrincipal),
    widensPublicAccess: put.some(grantsEveryone),
  };
}

function grantsEveryone({ principalType, principalId }: AclRecord): boolean {
  return principalType === 'public' || (principalType === 'role' && principalId === 'USER');
}

/** Who is named twice could be meant either way. */
function requireUnique(principals: readonly { type: SharedWith; id: string }[]): void {
  const seen = new Set<string>();
  for (const { type, id } of principals) {
    const name = JSON.stringify([type, id]);
    if (seen.has(name)) throw createInvalidError('updated', 'duplicate', `${type} ${id} is listed twice.`);
    seen.add(name);
  }
}

/** A user who may share it. Groups come and go with tokens, and roles with administrators. */
function hasOwner(rows: ReadonlyMap<string, AclRecord>): boolean {
  return [...rows.values()].some(
    ({ principalType, bits }) => principalType === 'user' && hasAclBit(bits, 'SHARE'),
  );
}

function formatPrincipal({ principalType, principalId }: AclRecord): string {
  return principalType === 'public' ? 'public' : `${principalType}:${principalId}`;
}

function createInvalidError(path: string, code: string, message: string): GatewayError {
  return new GatewayError('REQUEST_INVALID', { detail: message, errors: [{ path, code, message }] });
}
