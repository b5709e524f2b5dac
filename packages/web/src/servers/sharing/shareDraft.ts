import type { FoundPrincipal, ShareRequest, SharedPrincipalView, SharingView } from '@behalf/contracts';
import { type AclRole, aclRoles } from '@behalf/contracts/plain';
import { strings } from '../../strings/strings.ts';

/** The edited access list. */
interface ShareDraft {
  readonly principals: readonly SharedPrincipalView[];
  readonly isPublic: boolean;
  readonly publicRole: AclRole;
}

/** A principal from the search. */
export type PrincipalCandidate = Omit<FoundPrincipal, 'source'>;

type PrincipalRef = Pick<SharedPrincipalView, 'type' | 'id'>;

export function toShareDraft({ principals, public: isPublic, publicAccessRoleId }: SharingView): ShareDraft {
  return { principals, isPublic, publicRole: publicAccessRoleId ?? 'mcpServer_viewer' };
}

export function isSamePrincipal(a: PrincipalRef, b: PrincipalRef): boolean {
  return a.type === b.type && a.id === b.id;
}

/** A new principal starts with the fewest permissions. */
export function addPrincipal(draft: ShareDraft, candidate: PrincipalCandidate): ShareDraft {
  if (draft.principals.some((entry) => isSamePrincipal(entry, candidate))) return draft;
  const { type, id, name, email } = candidate;
  const added = { type, id, name, ...(email !== undefined && { email }) };
  return {
    ...draft,
    principals: [...draft.principals, { ...added, accessRoleId: 'mcpServer_viewer' }],
  };
}

export function setPrincipalRole(
  draft: ShareDraft,
  principal: PrincipalRef,
  accessRoleId: AclRole,
): ShareDraft {
  return {
    ...draft,
    principals: draft.principals.map((entry) =>
      isSamePrincipal(entry, principal) ? { ...entry, accessRoleId } : entry,
    ),
  };
}

export function removePrincipal(draft: ShareDraft, principal: PrincipalRef): ShareDraft {
  return {
    ...draft,
    principals: draft.principals.filter((entry) => !isSamePrincipal(entry, principal)),
  };
}

/** The changes only, so that concurrent changes of other users are kept. */
export function toShareRequest(original: SharingView, draft: ShareDraft): ShareRequest {
  const findOriginal = (principal: PrincipalRef) =>
    original.principals.find((entry) => isSamePrincipal(entry, principal));
  return {
    updated: draft.principals
      .filter((current) => findOriginal(current)?.accessRoleId !== current.accessRoleId)
      .map(({ type, id, accessRoleId }) => ({ type, id, accessRoleId })),
    removed: original.principals
      .filter((entry) => !draft.principals.some((current) => isSamePrincipal(current, entry)))
      .map(({ type, id }) => ({ type, id })),
    public: draft.isPublic,
    ...(draft.isPublic && { publicAccessRoleId: draft.publicRole }),
  };
}

export function hasSharingChanges(original: SharingView, draft: ShareDraft): boolean {
  const { updated, removed } = toShareRequest(original, draft);
  const originalDraft = toShareDraft(original);
  const isPublicChanged =
    originalDraft.isPublic !== draft.isPublic ||
    (draft.isPublic && originalDraft.publicRole !== draft.publicRole);
  return updated.length > 0 || removed.length > 0 || isPublicChanged;
}

/** A user can grant only permissions that they have. */
export function getGrantableRoles(callerAclBits: number): AclRole[] {
  return (Object.keys(aclRoles) as AclRole[]).filter((role) => (aclRoles[role] & ~callerAclBits) === 0);
}

/** Whether the user removes own permissions. */
export function reducesOwnAccess(
  original: SharingView,
  draft: ShareDraft,
  userId: string | undefined,
): boolean {
  const currentUser = { type: 'user' as const, id: userId ?? '' };
  const getAclBits = (principals: readonly SharedPrincipalView[]) => {
    const ownEntry = principals.find((entry) => isSamePrincipal(entry, currentUser));
    return ownEntry ? aclRoles[ownEntry.accessRoleId] : 0;
  };
  return (getAclBits(original.principals) & ~getAclBits(draft.principals)) !== 0;
}

/** A selectable principal with its description. */
interface PrincipalOption extends PrincipalCandidate {
  readonly note?: string;
}

/** The initial role of all users: sharing with it means sharing with all. */
const DEFAULT_ROLE = 'USER';

/**
 * The selectable principals: search results without those on the list, and a group with the typed name. Groups come
 * from tokens, so any name may be a group.
 */
export function toPrincipalOptions(
  found: readonly FoundPrincipal[],
  typed: string,
  {
    isAlreadyAdded,
    canSharePublicly,
  }: {
    readonly isAlreadyAdded: (candidate: PrincipalCandidate) => boolean;
    readonly canSharePublicly: boolean;
  },
): PrincipalOption[] {
  const note = strings.servers.sharing.asGroupHint;
  const group: PrincipalOption = { type: 'group', id: typed, name: typed, note };
  const isKnown = found.some(({ type, id }) => type === 'group' && id === typed);
  return [...found, ...(isKnown ? [] : [group])].filter(
    (option) =>
      !isAlreadyAdded(option) && (canSharePublicly || option.type !== 'role' || option.id !== DEFAULT_ROLE),
  );
}
