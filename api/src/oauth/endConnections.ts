import type { DisconnectView } from '@behalf/contracts';
import {
  credentialHolder,
  principalKey,
  type CredentialSummary,
  type CredentialVault,
  type ServerSnapshot,
  type UserPrincipal,
} from '@behalf/gateway';
import type { OAuthFlowStore } from '@behalf/gateway/ports';

export interface EndParts {
  readonly vault: Pick<CredentialVault, 'list' | 'disconnect'>;
  readonly flows: Pick<OAuthFlowStore, 'removeByUser'>;
  /** What was opened or listed with the old token is of no use any more. */
  readonly forget: (serverId: string, principal: string) => Promise<void>;
}

/** From the worst to the best that can be said of several. */
const REVOKED = ['failed', 'unsupported', 'yes', 'none'] as const satisfies DisconnectView['revoked'][];

/** A user's own credentials at a server: all, or those of a label. */
export async function credentialsAt(
  { vault }: Pick<EndParts, 'vault'>,
  { id }: ServerSnapshot,
  caller: UserPrincipal,
  label?: string,
): Promise<CredentialSummary[]> {
  const all = await vault.list(caller.tenant, credentialHolder(caller), id);
  const own = all.filter(({ kind }) => kind === 'oauth_code' || kind === 'static');
  if (label === undefined) return own;
  const called = own.filter((credential) => credential.label === label);
  // What was ended keeps its label until another takes it: that one is meant.
  const living = called.filter(({ status }) => status !== 'revoked');
  return living.length > 0 ? living : called;
}

/** Ends them: here first, then at the authorization server; pending sign-ins there end too. */
export async function endConnections(
  parts: EndParts,
  server: ServerSnapshot,
  caller: UserPrincipal,
  label?: string,
): Promise<DisconnectView> {
  const { vault, flows, forget } = parts;
  const ended: { existed: boolean; revoked: DisconnectView['revoked'] }[] = [];
  for (const credential of await credentialsAt(parts, server, caller, label)) {
    ended.push(await vault.disconnect(credential));
  }
  await flows.removeByUser(caller.tenant, caller.userId, server.id);
  await forget(server.id, principalKey(caller));
  return {
    disconnected: ended.some(({ existed }) => existed),
    revoked: REVOKED.find((word) => ended.some(({ revoked }) => revoked === word)) ?? 'none',
  };
}
