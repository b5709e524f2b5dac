import { errorKinds, type ServerStatus } from '@behalf/contracts';
import type { ConnectionManager } from '../connections/connectionManager.ts';
import type { UserVariables } from '../credentials/userVariables.ts';
import { principalKey, type UserPrincipal } from '../principal/principal.ts';
import { couldSignIn } from '../registry/couldSignIn.ts';
import type { Inspection } from '../registry/inspection.ts';
import { declaredVariables, needsOAuth, usesObo } from '../registry/scope.ts';
import type { ServerSnapshot, UserServer } from '../registry/server.ts';
import type { AccessParts, Allowed } from '../toolcall/checkAccess.ts';
import { findServer, findServers, type FindParts } from '../toolcall/findServer.ts';

export interface StatusParts extends FindParts, AccessParts {
  readonly connections: Pick<ConnectionManager, 'state'>;
  readonly inspection: Pick<Inspection, 'stateOf'>;
  readonly variables: Pick<UserVariables, 'readSetFlags'>;
  /** How things stand with a user's sign-in at a server. */
  readonly authorization: (
    server: UserServer,
    principal: UserPrincipal,
  ) => Promise<ServerStatus['authorizationState']>;
}

export function serverStatus(
  parts: StatusParts,
  principal: UserPrincipal,
  name: string,
): Promise<ServerStatus> {
  return statusOf(parts, principal, findServer(parts, principal, name));
}

/** Of every server, at once; one that cannot be told does not keep the others from being told. */
export async function serverStatuses(
  parts: StatusParts,
  principal: UserPrincipal,
): Promise<Record<string, ServerStatus>> {
  const told = await Promise.all(
    findServers(parts, principal).map(async (server): Promise<[string, ServerStatus]> => {
      try {
        return [server.name, await statusOf(parts, principal, server)];
      } catch {
        return [server.name, unknown(server)];
      }
    }),
  );
  return Object.fromEntries(told);
}

async function statusOf(
  { connections, inspection, variables, authorization }: StatusParts,
  principal: UserPrincipal,
  server: Allowed,
): Promise<ServerStatus> {
  const { connection, code, since, retryAt } = connections.state(server, principalKey(principal));
  const inspected = inspection.stateOf(server);
  // A server that serves is well, whatever the look before found.
  const failed = inspected.kind === 'failed' && connection !== 'connected' ? inspected : undefined;
  const refused = failed?.code === 'MCP_CREDENTIAL_REJECTED';
  // A server that is sent exchanged tokens never asks its users to sign in, whatever it answers.
  const signsIn =
    !usesObo(server.settings) && (needsOAuth(server.settings) || (refused && couldSignIn(server)));
  const declared = declaredVariables(server.settings);
  const flags = declared.length > 0 ? await variables.readSetFlags(server, principal) : {};
  const problem = code ?? failed?.code;
  const again = retryAt ?? failed?.retryAt;
  const begun = [since, failed?.since].filter((at) => at !== undefined);
  return {
    requiresOAuth: signsIn,
    ...(server.scope === 'user' && server.requestScoped && { requestScoped: true }),
    ...(declared.length > 0 && {
      configurationState: Object.values(flags).every(Boolean) ? 'configured' : 'needs_configuration',
    }),
    connectionState: connection,
    authorizationState: await authorizationOf(),
    ...(problem !== undefined && { error: errorKinds[problem].title, code: problem }),
    ...(begun.length > 0 && { since: Math.min(...begun) }),
    ...(again !== undefined && { retryAt: again }),
  };

  /** Also of one that says nothing: whoever signed in at it is told so. */
  async function authorizationOf(): Promise<ServerStatus['authorizationState']> {
    if (server.scope !== 'user' || !couldSignIn(server)) {
      return signsIn ? 'needs_authorization' : 'not_required';
    }
    const state = await authorization(server, principal);
    return state === 'needs_authorization' && !signsIn ? 'not_required' : state;
  }
}

function unknown({ settings }: ServerSnapshot): ServerStatus {
  return {
    requiresOAuth: !usesObo(settings) && needsOAuth(settings),
    connectionState: 'error',
    authorizationState: 'error',
    error: errorKinds.INTERNAL.title,
    code: 'INTERNAL',
  };
}
