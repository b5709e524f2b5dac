import type { FoundPrincipal, ShareRequest, SharedPrincipalView, SharingView } from '@behalf/contracts';
import { type AclRole, aclRoles } from '@behalf/contracts/plain';
import { strings } from '../../strings/strings.ts';

/** Whom a server is to be shared with, while somebody decides. */
interface ShareDraft {
  readonly principals: readonly SharedPrincipalView[];
  readonly isPublic: boolean;
  readonly publicRole: AclRole;
}

/** Somebody who was found. */
export type PrincipalCandidate = Omit<FoundPrincipal, 'source'>;

type PrincipalRef = Pick<SharedPrincipalView, 'type' | 'id'>;

export function toShareDraft({ principals, public: isPublic, publicAccessRoleId }: SharingView): ShareDraft {
  return { principals, isPublic, publicRole: publicAccessRoleId ?? 'mcpServer_viewer' };
}

export function isSamePrincipal(a: PrincipalRef, b: PrincipalRef): boolean {
  return a.type === b.type && a.id === b.id;
}

/** Who comes new begins with the least. */
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

/** What is to change, and nothing else: what somebody else changed meanwhile stays as they left it. */
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

/** Nobody gives what they do not have. */
export function getGrantableRoles(callerAclBits: number): AclRole[] {
  return (Object.keys(aclRoles) as AclRole[]).filter((role) => (aclRoles[role] & ~callerAclBits) === 0);
}

/** Whether somebody takes rights from themselves. */
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

/** Somebody to choose, and what is to be said about them. */
interface PrincipalOption extends PrincipalCandidate {
  readonly note?: string;
}

/** The role that everybody begins with: sharing with it is sharing with all. */
const DEFAULT_ROLE = 'USER';

/**
 * Who can be chosen: whom the gateway found, without those who have it already, and a group of the name that was typed.
 * Which groups there are, tokens say; so any name may be one.
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
