import { type ServerStatus, errorKinds } from '@behalf/contracts';
import {
  type AccessParts,
  type AllowedServer,
  type ServerLookupParts,
  findServer,
  listAllowedServers,
} from '../access/allowedServer.ts';
import type { ConnectionManager } from '../connections/connectionManager.ts';
import { credentialHolder } from '../principal/credentialHolder.ts';
import type { OAuthFlows } from '../credentials/signin/createOAuthServices.ts';
import type { UserVariables } from '../credentials/variables/userVariables.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import { type UserPrincipal, principalKey } from '../principal/principal.ts';
import {
  type ServerSnapshot,
  type UserServer,
  listDeclaredVariables,
  mayRequireOAuth,
  needsOAuth,
  usesObo,
} from '../definitions/definition.ts';
import type { InspectionScheduler } from './inspection.ts';

export interface StatusParts extends ServerLookupParts, AccessParts {
  readonly connections: Pick<ConnectionManager, 'state'>;
  readonly inspectionScheduler: Pick<InspectionScheduler, 'getState'>;
  readonly variables: Pick<UserVariables, 'readSetFlags'>;
  readonly flows: Pick<OAuthFlows, 'isPending'>;
  readonly vault: Pick<CredentialVault, 'list'>;
}

export function getServerStatus(
  parts: StatusParts,
  principal: UserPrincipal,
  name: string,
): Promise<ServerStatus> {
  return readStatus(parts, principal, findServer(parts, principal, name));
}

/** The status of every server that the caller may use. If one status cannot be read, the others are still returned. */
export async function getServerStatuses(
  parts: StatusParts,
  principal: UserPrincipal,
): Promise<Record<string, ServerStatus>> {
  const entries = await Promise.all(
    listAllowedServers(parts, principal).map(async (server): Promise<[string, ServerStatus]> => {
      try {
        return [server.name, await readStatus(parts, principal, server)];
      } catch {
        return [server.name, toUnknownStatus(server)];
      }
    }),
  );
  return Object.fromEntries(entries);
}

async function readStatus(
  parts: StatusParts,
  principal: UserPrincipal,
  server: AllowedServer,
): Promise<ServerStatus> {
  const { connections, inspectionScheduler, variables } = parts;
  const { connection, code, since, retryAt } = connections.state(server, principalKey(principal));
  const inspectionState = inspectionScheduler.getState(server);
  // A working connection outweighs a failed inspection.
  const failedInspection =
    inspectionState.kind === 'failed' && connection !== 'connected' ? inspectionState : undefined;
  const isRejected = failedInspection?.code === 'MCP_CREDENTIAL_REJECTED';
  // Users never sign in at an OBO server, even if it responds with 401.
  const requiresSignIn =
    !usesObo(server.settings) && (needsOAuth(server.settings) || (isRejected && mayRequireOAuth(server)));
  const declared = listDeclaredVariables(server.settings);
  const flags = declared.length > 0 ? await variables.readSetFlags(server, principal) : {};
  const errorCode = code ?? failedInspection?.code;
  const nextRetryAt = retryAt ?? failedInspection?.retryAt;
  const startTimes = [since, failedInspection?.since].filter((time) => time !== undefined);
  return {
    requiresOAuth: requiresSignIn,
    ...(server.scope === 'user' && server.requestScoped && { requestScoped: true }),
    ...(declared.length > 0 && {
      configurationState: Object.values(flags).every(Boolean) ? 'configured' : 'needs_configuration',
    }),
    connectionState: connection,
    authorizationState: await resolveAuthorizationState(),
    ...(errorCode !== undefined && { error: errorKinds[errorCode].title, code: errorCode }),
    ...(startTimes.length > 0 && { since: Math.min(...startTimes) }),
    ...(nextRetryAt !== undefined && { retryAt: nextRetryAt }),
  };

  /** Reports an existing sign-in even if the definition does not require one. */
  async function resolveAuthorizationState(): Promise<ServerStatus['authorizationState']> {
    if (server.scope !== 'user' || !mayRequireOAuth(server)) {
      return requiresSignIn ? 'needs_authorization' : 'not_required';
    }
    const state = await readSignInState(parts, server, principal);
    return state === 'needs_authorization' && !requiresSignIn ? 'not_required' : state;
  }
}

function toUnknownStatus({ settings }: ServerSnapshot): ServerStatus {
  return {
    requiresOAuth: !usesObo(settings) && needsOAuth(settings),
    connectionState: 'error',
    authorizationState: 'error',
    error: errorKinds.INTERNAL.title,
    code: 'INTERNAL',
  };
}

/** The state of a user's sign-in at a server. An active credential counts even while another sign-in is pending. */
async function readSignInState(
  { flows, vault }: StatusParts,
  { id }: UserServer,
  principal: UserPrincipal,
): Promise<ServerStatus['authorizationState']> {
  const credentials = await vault.list(principal.tenant, credentialHolder(principal), id);
  if (credentials.some(({ status }) => status === 'active')) return 'authorized';
  return (await flows.isPending(id, principal)) ? 'authorizing' : 'needs_authorization';
}
