import type { Adapter } from 'oidc-provider';
import type Provider from 'oidc-provider';
import { findUser, type DevUser } from '../users.ts';
import type { ProvenSubject, SubjectFault } from './subjects.ts';

/** A refresh token that holds, and the one that takes its place, where one does. */
export interface RefreshSubject extends ProvenSubject {
  readonly successor?: string;
}

/** The subject of an exchange is a refresh token of the client that asks. */
export type ProveRefreshToken = (token: string, clientId: string) => Promise<RefreshSubject | SubjectFault>;

export interface RefreshSubjectParts {
  /** The one that gives them out; another after a rotation of keys. */
  readonly provider: () => Provider;
  readonly adapter: (model: string) => Adapter;
  readonly users: readonly DevUser[];
  /** Whether each exchange uses the token up and gives another, as a refresh does. */
  readonly rotates: boolean;
}

export function createRefreshSubjects({
  provider,
  adapter,
  users,
  rotates,
}: RefreshSubjectParts): ProveRefreshToken {
  return async (token, clientId) => {
    const { RefreshToken } = provider();
    const found = await RefreshToken.find(token);
    if (!found) return 'not-ours';
    if (found.clientId !== clientId) return 'wrong-audience';
    const user = findUser(users, found.accountId);
    if (!user) return 'unknown-user';
    if (found.consumed !== undefined) {
      // Somebody has a copy of it: nothing of that sign-in is good any more (RFC 9700, section 4.14.2).
      await adapter('RefreshToken').revokeByGrantId(found.grantId ?? '');
      return 'outside-its-time';
    }
    const claims = { sub: user.id, iat: found.iat };
    if (!rotates) return { user, claims };
    const client = await provider().Client.find(clientId);
    if (!client) return 'wrong-audience';
    await found.consume();
    const { accountId, authTime, grantId, gty, iiat, scope, sessionUid, sid, resource } = found;
    const kept = { accountId, authTime, grantId, gty, iiat, scope, sessionUid, sid, resource };
    const next = new RefreshToken({ ...kept, client } as ConstructorParameters<typeof RefreshToken>[0]);
    return { user, claims, successor: await next.save() };
  };
}
