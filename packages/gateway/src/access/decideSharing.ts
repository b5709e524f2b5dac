import { aclRoles, grants, type ErrorCode, type ShareRequest, type SharedWith } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { aclId, type AclKey, type AclRecord } from '../ports/index.ts';

/** What the decision rests on. */
export interface Sharing {
  readonly tenant: string;
  readonly serverId: string;
  /** As they are now. */
  readonly rows: readonly AclRecord[];
  /** What the caller may do with it: nobody gives or takes what they do not have. */
  readonly held: number;
  /** Which bits of it there are to have. */
  readonly givable: number;
  /** Whether the definition is for everybody, whatever the rows say. */
  readonly isForEverybody: boolean;
  /** Whether the last owner may go: an administrator can give it to somebody again. */
  readonly mayOrphan: boolean;
  /** What somebody is told who gives or takes what they do not have. */
  readonly denial: ErrorCode;
  readonly grantedBy: string;
  readonly grantedAt: number;
}

export interface SharingDecision {
  readonly put: readonly AclRecord[];
  readonly remove: readonly string[];
  /** Who is concerned, such as `user:<id>`. */
  readonly changed: readonly string[];
  /** Whether more becomes public than was, or something else: by the word, or by the role that everybody begins with. */
  readonly touchesPublic: boolean;
}

const MOST_ROWS = 500;

/** What a request would write, or why it must not. */
export function decideSharing(sharing: Sharing, request: ShareRequest): SharingDecision {
  const { tenant, serverId, held, givable, grantedBy, grantedAt } = sharing;
  const rows = new Map(sharing.rows.map((row) => [row.id, row]));
  const keyOf = (principalType: AclKey['principalType'], principalId: string): AclKey => ({
    ...{ tenant, serverId, principalType, principalId },
  });
  const put: AclRecord[] = [];
  const remove: string[] = [];

  function give(key: AclKey, bits: number): void {
    const id = aclId(key);
    const before = rows.get(id)?.bits ?? 0;
    if (before === bits) return;
    if (((bits | (before & givable)) & ~held) !== 0) throw new GatewayError(sharing.denial);
    put.push({ ...key, id, bits, grantedBy, grantedAt });
  }

  function take(key: AclKey): void {
    const id = aclId(key);
    const before = rows.get(id);
    if (!before) return;
    if ((before.bits & givable & ~held) !== 0) throw new GatewayError(sharing.denial);
    remove.push(id);
  }

  onlyOnce([...request.updated, ...request.removed]);
  for (const { type, id, accessRoleId } of request.updated) give(keyOf(type, id), aclRoles[accessRoleId]);
  for (const { type, id } of request.removed) take(keyOf(type, id));

  const everybody = keyOf('public', '');
  if (!request.public && sharing.isForEverybody) {
    throw new GatewayError('MCP_SERVER_MANAGED', { detail: 'Its definition is for everybody.' });
  }
  const publicBits = request.public ? aclRoles[request.publicAccessRoleId ?? 'mcpServer_viewer'] : 0;
  const isPublicAnyway = sharing.isForEverybody && publicBits === aclRoles.mcpServer_viewer;
  if (publicBits === 0) take(everybody);
  else if (!isPublicAnyway) give(everybody, publicBits);

  const after = new Map(rows);
  for (const row of put) after.set(row.id, row);
  for (const id of remove) after.delete(id);
  if (after.size > MOST_ROWS) {
    throw refused('updated', 'too_many', `It can be shared with ${MOST_ROWS} at most.`);
  }
  if (!sharing.mayOrphan && hasOwner(rows) && !hasOwner(after)) {
    throw refused('removed', 'last_owner', 'Somebody must remain owner.');
  }
  const gone = remove.flatMap((id) => rows.get(id) ?? []);
  return { put, remove, changed: [...put, ...gone].map(nameOf), touchesPublic: put.some(isEverybody) };
}

function isEverybody({ principalType, principalId }: AclRecord): boolean {
  return principalType === 'public' || (principalType === 'role' && principalId === 'USER');
}

/** Who is named twice could be meant either way. */
function onlyOnce(principals: readonly { type: SharedWith; id: string }[]): void {
  const seen = new Set<string>();
  for (const { type, id } of principals) {
    const name = JSON.stringify([type, id]);
    if (seen.has(name)) throw refused('updated', 'duplicate', `${type} ${id} is named twice.`);
    seen.add(name);
  }
}

/** A user who may share it. Groups come and go with tokens, and roles with administrators. */
function hasOwner(rows: ReadonlyMap<string, AclRecord>): boolean {
  return [...rows.values()].some(
    ({ principalType, bits }) => principalType === 'user' && grants(bits, 'SHARE'),
  );
}

function nameOf({ principalType, principalId }: AclRecord): string {
  return principalType === 'public' ? 'public' : `${principalType}:${principalId}`;
}

function refused(path: string, code: string, message: string): GatewayError {
  return new GatewayError('REQUEST_INVALID', { detail: message, errors: [{ path, code, message }] });
}
