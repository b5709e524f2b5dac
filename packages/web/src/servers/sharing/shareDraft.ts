import type { FoundPrincipal, SharedPrincipalView, ShareRequest, SharingView } from '@behalf/contracts';
import { aclRoles, type AclRole } from '@behalf/contracts/plain';

/** Whom a server is to be shared with, while somebody decides. */
export interface ShareDraft {
  readonly principals: readonly SharedPrincipalView[];
  readonly isPublic: boolean;
  readonly publicRole: AclRole;
}

/** Somebody who was found. */
export type Picked = Omit<FoundPrincipal, 'source'>;

type Who = Pick<SharedPrincipalView, 'type' | 'id'>;

export function draftOf({ principals, public: isPublic, publicAccessRoleId }: SharingView): ShareDraft {
  return { principals, isPublic, publicRole: publicAccessRoleId ?? 'mcpServer_viewer' };
}

export function isSame(a: Who, b: Who): boolean {
  return a.type === b.type && a.id === b.id;
}

/** Who comes new begins with the least. */
export function withPrincipal(draft: ShareDraft, found: Picked): ShareDraft {
  if (draft.principals.some((known) => isSame(known, found))) return draft;
  const { type, id, name, email } = found;
  const added = { type, id, name, ...(email !== undefined && { email }) };
  return {
    ...draft,
    principals: [...draft.principals, { ...added, accessRoleId: 'mcpServer_viewer' }],
  };
}

export function withRole(draft: ShareDraft, who: Who, accessRoleId: AclRole): ShareDraft {
  return {
    ...draft,
    principals: draft.principals.map((known) => (isSame(known, who) ? { ...known, accessRoleId } : known)),
  };
}

export function without(draft: ShareDraft, who: Who): ShareDraft {
  return { ...draft, principals: draft.principals.filter((known) => !isSame(known, who)) };
}

/** What is to change, and nothing else: what somebody else changed meanwhile stays as they left it. */
export function shareRequest(before: SharingView, draft: ShareDraft): ShareRequest {
  const was = (who: Who) => before.principals.find((known) => isSame(known, who));
  return {
    updated: draft.principals
      .filter((now) => was(now)?.accessRoleId !== now.accessRoleId)
      .map(({ type, id, accessRoleId }) => ({ type, id, accessRoleId })),
    removed: before.principals
      .filter((known) => !draft.principals.some((now) => isSame(now, known)))
      .map(({ type, id }) => ({ type, id })),
    public: draft.isPublic,
    ...(draft.isPublic && { publicAccessRoleId: draft.publicRole }),
  };
}

export function changesSharing(before: SharingView, draft: ShareDraft): boolean {
  const { updated, removed } = shareRequest(before, draft);
  const was = draftOf(before);
  const isPublicChanged =
    was.isPublic !== draft.isPublic || (draft.isPublic && was.publicRole !== draft.publicRole);
  return updated.length > 0 || removed.length > 0 || isPublicChanged;
}

/** Nobody gives what they do not have. */
export function rolesWithin(held: number): AclRole[] {
  return (Object.keys(aclRoles) as AclRole[]).filter((role) => (aclRoles[role] & ~held) === 0);
}

/** Whether somebody takes rights from themselves. */
export function losesOwn(before: SharingView, draft: ShareDraft, userId: string | undefined): boolean {
  const own = { type: 'user' as const, id: userId ?? '' };
  const bitsIn = (principals: readonly SharedPrincipalView[]) => {
    const found = principals.find((known) => isSame(known, own));
    return found ? aclRoles[found.accessRoleId] : 0;
  };
  return (bitsIn(before.principals) & ~bitsIn(draft.principals)) !== 0;
}
