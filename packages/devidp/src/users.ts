/** Somebody who can sign in, by choosing their name. */
export interface DevUser {
  /** `sub`: stays the same when everything else about them changes. */
  id: string;
  email: string;
  name: string;
  roles?: readonly string[];
  groups?: readonly string[];
  /** `tid`. */
  tenant?: string;
}

/** What both kinds of token say about a user. A claim nobody configured is absent, not empty. */
export function toAuthorityClaims({ roles, groups, tenant }: Omit<DevUser, 'id' | 'email' | 'name'>) {
  return {
    ...(roles && { roles: [...roles] }),
    ...(groups && { groups: [...groups] }),
    ...(tenant !== undefined && { tid: tenant }),
  };
}

/** What an ID token says in addition: who it is, for people to read. */
export function toProfileClaims({ email, name }: DevUser) {
  return { email, email_verified: true, name, preferred_username: email };
}

/** Who it is, as Entra's access tokens say it: `oid` is the same in every application. */
export function toEntraClaims({ id, email, name }: DevUser) {
  return { oid: id, name, preferred_username: email };
}

export function findUser(users: readonly DevUser[], id: string | undefined): DevUser | undefined {
  return users.find((user) => user.id === id);
}
