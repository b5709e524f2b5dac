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

export interface EndConnectionsParts {
  readonly vault: Pick<CredentialVault, 'list' | 'disconnect'>;
  readonly flows: Pick<OAuthFlowStore, 'removeByUser'>;
  /** What was opened or listed with the old token is of no use any more. */
  readonly invalidateUserState: (serverId: string, principal: string) => Promise<void>;
}

/** From the worst to the best that can be said of several. */
const REVOCATION_SEVERITY = [
  'failed',
  'unsupported',
  'yes',
  'none',
] as const satisfies DisconnectView['revoked'][];

/** A user's own credentials at a server: all, or those of a label. */
export async function credentialsAt(
  { vault }: Pick<EndConnectionsParts, 'vault'>,
  { id }: ServerSnapshot,
  caller: UserPrincipal,
  label?: string,
): Promise<CredentialSummary[]> {
  const all = await vault.list(caller.tenant, credentialHolder(caller), id);
  const credentials = all.filter(({ kind }) => kind === 'oauth_code' || kind === 'static');
  if (label === undefined) return credentials;
  const labeled = credentials.filter((credential) => credential.label === label);
  // What was ended keeps its label until another takes it: that one is meant.
  const active = labeled.filter(({ status }) => status !== 'revoked');
  return active.length > 0 ? active : labeled;
}

/** Ends them: here first, then at the authorization server; pending sign-ins there end too. */
export async function endConnections(
  parts: EndConnectionsParts,
  server: ServerSnapshot,
  caller: UserPrincipal,
  label?: string,
): Promise<DisconnectView> {
  const { vault, flows, invalidateUserState } = parts;
  const results: { existed: boolean; revoked: DisconnectView['revoked'] }[] = [];
  for (const credential of await credentialsAt(parts, server, caller, label)) {
    results.push(await vault.disconnect(credential));
  }
  await flows.removeByUser(caller.tenant, caller.userId, server.id);
  await invalidateUserState(server.id, principalKey(caller));
  return {
    disconnected: results.some(({ existed }) => existed),
    revoked:
      REVOCATION_SEVERITY.find((outcome) => results.some(({ revoked }) => revoked === outcome)) ?? 'none',
  };
}
