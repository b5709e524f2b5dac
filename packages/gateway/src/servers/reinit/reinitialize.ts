import type { FlowView } from '@behalf/contracts';
import { type Clock, toAbortSignal, withTimeout } from '@behalf/kernel';
import type { AllowedServer } from '../../access/allowedServer.ts';
import { ReauthNeeded, SignInRequired } from '../../credentials/signInRequired.ts';
import type { OAuthFlows } from '../../credentials/signin/createOAuthServices.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import type { Inbound } from '../../toolcall/inbound.ts';
import { type SendParts, createPrepareTarget, resolveAllowedServer } from '../../toolcall/credential.ts';
import { loadTools } from '../../toolcall/list.ts';

import { type Catalog, type ToolList, ownerKey } from '../../tools/catalog.ts';
import { type PolicyParts, isToolAvailable } from '../../tools/policy.ts';
import { UpstreamError } from '../../upstream/upstreamError.ts';
import { type UserServer, mayRequireOAuth } from '../../definitions/definition.ts';
import type { InspectionScheduler } from '../inspection.ts';
import { type UnauthenticatedParts, discoverUnauthenticated } from './discovery.ts';
import { type ReinitOutcome, type ReinitResult, type ReinitTools, toReinitResult } from './outcome.ts';

export interface ReinitParts extends SendParts, UnauthenticatedParts, PolicyParts {
  readonly catalog: Catalog;
  readonly inspectionScheduler: InspectionScheduler;
  readonly clock: Clock;
  readonly signInStarter: SignInStarter;
}

interface ReinitOptions {
  /** False keeps a working connection. Default: true. */
  readonly forceNew?: boolean | undefined;
  /** How long this caller waits, in milliseconds. Shared work continues within the limits of the server. */
  readonly connectionTimeout?: number | undefined;
}

/** Starts sign-ins at servers. */
export interface SignInStarter {
  /** Returns the pending flow or starts a new one. Rejects with a `GatewayError` if no sign-in is possible. */
  start(
    server: AllowedServer<UserServer>,
    principal: UserPrincipal,
    signInRequired: SignInRequired,
  ): Promise<FlowView>;
}

/** Starts a sign-in, or joins the pending one. Asks for the scopes and claims that the refused call lacked. */
export function createSignInStarter(flows: Pick<OAuthFlows, 'start'>): SignInStarter {
  return {
    async start(server, principal, { reason, detail }) {
      const widenedScopes = reason === 'insufficient_scope' ? detail.scopes : undefined;
      return (await flows.start(server, principal, { widenedScopes, claims: detail.claims })).flow;
    },
  };
}

/**
 * Reconnects a server for this user and lists its tools. If the user must sign in first, discovers the tools without
 * credentials.
 *
 * `connectionTimeout` ends the attempt for this caller only. A connection or list request that other callers may share
 * continues, and the timeout does not count for the circuit breaker: otherwise a few callers with short timeouts could
 * block the server for all users.
 */
export async function reinitialize(
  parts: ReinitParts,
  name: string,
  { connectionTimeout, forceNew = true }: ReinitOptions,
  inbound: Inbound,
): Promise<ReinitResult> {
  const { clock, inspectionScheduler } = parts;
  const server = resolveAllowedServer(parts, inbound, name, 'MCP_SERVER_NOT_FOUND');
  const timeout = new AbortController();
  const signal = AbortSignal.any([toAbortSignal(inbound.signal), timeout.signal]);
  const attempted = attempt(parts, server, { ...inbound, signal }, forceNew);
  const outcome =
    connectionTimeout === undefined
      ? await attempted
      : await withTimeout(clock, connectionTimeout, attempted, (): ReinitOutcome => {
          timeout.abort();
          const isRepeated = inspectionScheduler.getState(server).kind === 'failed';
          return { kind: 'unreachable', code: 'MCP_TIMEOUT', isRepeated };
        });
  return toReinitResult(server.name, outcome, clock.now());
}

async function attempt(
  parts: ReinitParts,
  server: AllowedServer,
  inbound: Inbound & { readonly signal: AbortSignal },
  forceNew: boolean,
): Promise<ReinitOutcome> {
  const { principal, signal } = inbound;

  async function connect(): Promise<ReinitOutcome> {
    const obtain = createPrepareTarget(parts, server, inbound, { bypassesBreaker: true });
    const options = { refresh: true, lease: { bypassesBreaker: true, forceNew } };
    const tools = await loadTools(parts, server, obtain, inbound, options);
    return { kind: 'connected', tools: filterAvailable(tools) };
  }

  /** Repeats a failed inspection. Returns an outcome if the server is still unreachable. */
  async function retryInspection(): Promise<ReinitOutcome | undefined> {
    const { inspectionScheduler } = parts;
    if (server.scope !== 'app' || inspectionScheduler.getState(server).kind !== 'failed') return undefined;
    const state = await inspectionScheduler.reinspect(server, signal);
    if (state.kind !== 'failed' || state.code === 'MCP_CREDENTIAL_REJECTED') return undefined;
    return { kind: 'unreachable', code: state.code, isRepeated: true, retryAt: state.retryAt };
  }

  async function toOutcome(error: unknown): Promise<ReinitOutcome> {
    if (error instanceof SignInRequired) return requireSignIn(error);
    if (error instanceof UpstreamError) {
      const isSignIn = error.reason === 'unauthorized' && mayRequireOAuth(server);
      return isSignIn ? requireSignIn(new SignInRequired('absent')) : toUpstreamOutcome(error);
    }
    if (error instanceof ReauthNeeded) {
      const { reason, detail } = error;
      // Without a subject token, the tools are discovered. If the provider rejected the token, the caller gets none.
      const hasNoSubject = reason === 'absent' || reason === 'expired_no_refresh';
      const tools = hasNoSubject ? await discoverTools() : null;
      return { kind: 'obo_failed', code: detail.code, retryable: false, tools };
    }
    if (!(error instanceof GatewayError)) throw error;
    const { code } = error;
    if (code === 'MCP_OBO_FORBIDDEN' || code.startsWith('OBO_')) {
      const retryable = code === 'OBO_TEMPORARY' || code === 'OBO_EMPTY_RESPONSE';
      return { kind: 'obo_failed', code, retryable, tools: null };
    }
    if (code !== 'MCP_USER_VARS_MISSING') throw error;
    return { kind: 'user_vars_missing', names: (error.errors ?? []).map(({ path }) => path) };
  }

  async function requireSignIn(signInRequired: SignInRequired): Promise<ReinitOutcome> {
    const [tools, flow] = await Promise.all([discoverTools(), startSignIn(signInRequired)]);
    return flow
      ? { kind: 'authorization_required', flow, tools }
      : { kind: 'authorization_unavailable', tools };
  }

  /** Null if no sign-in is possible. */
  async function startSignIn(signInRequired: SignInRequired): Promise<FlowView | null> {
    // Only users sign in, and only at user-scoped servers.
    if (server.scope !== 'user' || principal.kind !== 'user') return null;
    try {
      return await parts.signInStarter.start(server, principal, signInRequired);
    } catch (error) {
      if (error instanceof GatewayError) return null;
      throw error;
    }
  }

  /** Discovers the tools without credentials. A list that was fetched with the user's credential takes precedence. */
  async function discoverTools(): Promise<ReinitTools | null> {
    const listed = await discoverUnauthenticated(parts, server, signal);
    if (!listed) return null;
    const options = { signal, onlyIfUnknown: true };
    return filterAvailable(
      await parts.catalog.load(server, ownerKey(server, principal), async () => listed, options),
    );
  }

  function filterAvailable({ tools }: ToolList): ReinitTools {
    const policy = parts.policy();
    return tools.filter((tool) => isToolAvailable(policy, principal, server, tool));
  }

  const repeatedFailure = await retryInspection();
  if (repeatedFailure) return repeatedFailure;
  try {
    return await connect();
  } catch (error) {
    if (signal.aborted) throw error;
    // The definition contains fields of a chat request, and this request has none.
    const needsChatRequest = server.scope === 'user' && server.requestScoped && !inbound.fields;
    return needsChatRequest && isDeferrable(error) ? { kind: 'deferred' } : toOutcome(error);
  }
}

/** Whether a chat request will resolve the error. Missing user variables are not deferred: the user must enter them. */
function isDeferrable(error: unknown): boolean {
  return (
    error instanceof SignInRequired ||
    error instanceof ReauthNeeded ||
    (error instanceof GatewayError && error.code === 'REQUEST_INVALID')
  );
}

function toUpstreamOutcome({ code, outcome }: UpstreamError): ReinitOutcome {
  if (code === 'MCP_CREDENTIAL_REJECTED') return { kind: 'credential_rejected' };
  if (outcome !== 'unreachable' && outcome !== 'unknown') return { kind: 'failed', code };
  // Listing tools has no side effects, so an unknown outcome only means that the server did not respond.
  const unreachableCode = code === 'MCP_OUTCOME_UNCERTAIN' ? 'MCP_UNREACHABLE' : code;
  return { kind: 'unreachable', code: unreachableCode, isRepeated: false };
}
