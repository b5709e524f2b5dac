import { toAbortSignal, type Cancellation, type Clock } from '@behalf/kernel';
import { listForUser, type Absence, type ServerTools } from '../catalog/listForUser.ts';
import type { SeenTools } from '../catalog/publicNames.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { ReauthNeeded } from '../credentials/reauthNeeded.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { toolOffered, type PolicyParts } from '../policy/toolOffered.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import type { Allowed } from './checkAccess.ts';
import { findServers, type FindParts } from './findServer.ts';
import { holderKey, loadTools, type LoadParts } from './loadTools.ts';
import { reasonToSignIn } from './signInNeeded.ts';

export interface ListToolsParts extends FindParts, AskParts, LoadParts, PolicyParts {
  readonly registry: FindParts['registry'] & AskParts['registry'];
  readonly clock: Clock;
}

/** The tools this caller has, server by server: what is offered here is what a call would find. */
export async function listTools(parts: ListToolsParts, inbound: Inbound): Promise<ServerTools[]> {
  return listToolsOf(parts, inbound, findServers(parts, inbound.principal));
}

/** The same of some of them; `beside` are others of this caller, with what is known of them. */
export async function listToolsOf(
  parts: ListToolsParts,
  inbound: Inbound,
  chosen: readonly Allowed[],
  beside: readonly SeenTools[] = [],
): Promise<ServerTools[]> {
  const servers = new Map<ServerSnapshot, Allowed>();
  for (const server of chosen) servers.set(server, server);
  const unsigned = new Set<ServerSnapshot>();
  const policy = parts.policy();
  const listed = await listForUser([...servers.values()], (server, signal) => load(server, signal), {
    clock: parts.clock,
    signal: toAbortSignal(inbound.signal),
    ...{ explain, beside },
  });
  return listed.map((entry) => ({
    ...entry,
    ...(unsigned.has(entry.server) && SIGN_IN_NEEDED),
    tools: entry.tools.filter((tool) => toolOffered(policy, inbound.principal, entry.server, tool)),
  }));

  async function load(server: ServerSnapshot, signal: AbortSignal) {
    const allowed = servers.get(server);
    if (!allowed) throw new SignInRequired('absent');
    try {
      const asking = { ...inbound, signal };
      const purse = createTokenRequestBudget();
      const obtain = (among: Cancellation = signal) =>
        prepare(parts, allowed, { ...asking, signal: among }, { purse });
      // Also where the list is known: without a credential nothing on it can be called.
      await obtain();
      return await loadTools(parts, allowed, obtain, asking);
    } catch (error) {
      // What it showed before is worth showing: until there is a sign-in, and without the fields that a chat brings.
      const known = parts.catalog.peek(server, holderKey(server, inbound.principal));
      const unsignedIn = error instanceof SignInRequired || error instanceof ReauthNeeded;
      if (!known || !(unsignedIn || waitsForChat(server, error))) throw error;
      if (unsignedIn) unsigned.add(server);
      return known;
    }
  }
}

const SIGN_IN_NEEDED: Absence = { state: 'needs_authorization', code: 'MCP_AUTHORIZATION_REQUIRED' };

function waitsForChat(server: ServerSnapshot, error: unknown): boolean {
  const isRequestScoped = server.scope === 'user' && server.requestScoped;
  return isRequestScoped && error instanceof GatewayError && error.code === 'REQUEST_INVALID';
}

function explain(error: unknown, server: ServerSnapshot): Absence | undefined {
  return reasonToSignIn(error, server) === undefined ? undefined : SIGN_IN_NEEDED;
}
