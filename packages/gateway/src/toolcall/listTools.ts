import { toAbortSignal, type Cancellation, type Clock } from '@behalf/kernel';
import { listForUser, type Absence, type ServerTools } from '../catalog/listForUser.ts';
import type { VisibleTools } from '../catalog/publicNames.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { ReauthNeeded } from '../credentials/reauthNeeded.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { isToolAvailable, type PolicyParts } from '../policy/decideTool.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { prepareCredential, type SendParts } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';
import type { AllowedServer } from './checkAccess.ts';
import { listAllowedServers, type ServerLookupParts } from './findServer.ts';
import { ownerKey, loadTools, type LoadToolsParts } from './loadTools.ts';
import { getSignInReason } from './signInRequirement.ts';

export interface ListToolsParts extends ServerLookupParts, SendParts, LoadToolsParts, PolicyParts {
  readonly registry: ServerLookupParts['registry'] & SendParts['registry'];
  readonly clock: Clock;
}

/** The tools this caller has, server by server: what is offered here is what a call would find. */
export async function listTools(parts: ListToolsParts, inbound: Inbound): Promise<ServerTools[]> {
  return listToolsOfServers(parts, inbound, listAllowedServers(parts, inbound.principal));
}

/** The same of some of them; `beside` are others of this caller, with what is known of them. */
export async function listToolsOfServers(
  parts: ListToolsParts,
  inbound: Inbound,
  selected: readonly AllowedServer[],
  otherTools: readonly VisibleTools[] = [],
): Promise<ServerTools[]> {
  const servers = new Map<ServerSnapshot, AllowedServer>();
  for (const server of selected) servers.set(server, server);
  const signedOut = new Set<ServerSnapshot>();
  const policy = parts.policy();
  const listed = await listForUser([...servers.values()], (server, signal) => load(server, signal), {
    clock: parts.clock,
    signal: toAbortSignal(inbound.signal),
    ...{ explain: toSignInAbsence, otherTools },
  });
  return listed.map((entry) => ({
    ...entry,
    ...(signedOut.has(entry.server) && SIGN_IN_NEEDED),
    tools: entry.tools.filter((tool) => isToolAvailable(policy, inbound.principal, entry.server, tool)),
  }));

  async function load(server: ServerSnapshot, signal: AbortSignal) {
    const allowed = servers.get(server);
    if (!allowed) throw new SignInRequired('absent');
    try {
      const serverInbound = { ...inbound, signal };
      const budget = createTokenRequestBudget();
      const obtain = (cancellation: Cancellation = signal) =>
        prepareCredential(parts, allowed, { ...serverInbound, signal: cancellation }, { budget });
      // Also where the list is known: without a credential nothing on it can be called.
      await obtain();
      return await loadTools(parts, allowed, obtain, serverInbound);
    } catch (error) {
      // What it showed before is worth showing: until there is a sign-in, and without the fields that a chat brings.
      const known = parts.catalog.peek(server, ownerKey(server, inbound.principal));
      const isSignedOut = error instanceof SignInRequired || error instanceof ReauthNeeded;
      if (!known || !(isSignedOut || needsChatRequest(server, error))) throw error;
      if (isSignedOut) signedOut.add(server);
      return known;
    }
  }
}

const SIGN_IN_NEEDED: Absence = { state: 'needs_authorization', code: 'MCP_AUTHORIZATION_REQUIRED' };

function needsChatRequest(server: ServerSnapshot, error: unknown): boolean {
  const isRequestScoped = server.scope === 'user' && server.requestScoped;
  return isRequestScoped && error instanceof GatewayError && error.code === 'REQUEST_INVALID';
}

function toSignInAbsence(error: unknown, server: ServerSnapshot): Absence | undefined {
  return getSignInReason(error, server) === undefined ? undefined : SIGN_IN_NEEDED;
}
