import type { CredentialKey } from '../ports/index.ts';

/** Where the tokens of a sign-in at the identity provider are kept, beside those for servers. */
const LOGIN_SERVER = '@login';

/** Under which key: one for each session, so that they end with it. */
export function loginCredentialKey({
  tenant,
  userId,
  session,
}: {
  readonly tenant: string;
  readonly userId: string;
  readonly session: string;
}): CredentialKey {
  return { tenant, principal: `user:${userId}`, serverId: LOGIN_SERVER, kind: 'login', label: session };
}
