import type { FlowView } from '@behalf/contracts';
import { type Cancellation, type Clock, toAbortSignal, withTimeout } from '@behalf/kernel';
import type { AllowedServer } from '../../access/allowedServer.ts';
import { createTokenRequestBudget } from '../../credentials/obo/bearer.ts';
import { ReauthNeeded, SignInRequired } from '../../credentials/signInRequired.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import type { Inbound } from '../../toolcall/inbound.ts';
import { loadTools, ownerKey } from '../../toolcall/list.ts';
import { type SendParts, prepareCredential, resolveAllowedServer } from '../../toolcall/send.ts';
import type { Catalog, ToolList } from '../../tools/catalog.ts';
import { type PolicyParts, isToolAvailable } from '../../tools/policy.ts';
import { UpstreamError } from '../../upstream/upstreamError.ts';
import { type UserServer, mayRequireOAuth } from '../definition.ts';
import type { InspectionScheduler } from '../inspection.ts';
import { type UnauthenticatedParts, discoverUnauthenticated } from './discovery.ts';
import { type ReinitOutcome, type ReinitResult, type ReinitTools, toReinitResult } from './outcome.ts';

export interface ReinitParts extends SendParts, UnauthenticatedParts, PolicyParts {
  readonly catalog: Catalog;
  readonly inspectionScheduler: InspectionScheduler;
  readonly clock: Clock;
  readonly signInStarter: SignInStarter;
}

export interface ReinitOptions {
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

/**
 * Reconnects a server for this user and lists its tools. If the user must sign in first, discovers the tools without
 * credentials.
 */
export async function reinitialize(
  parts: ReinitParts,
  name: string,
  options: ReinitOptions,
  inbound: Inbound,
): Promise<ReinitResult> {
  const server = resolveAllowedServer(parts, inbound, name, 'MCP_SERVER_NOT_FOUND');
  const outcome = await attemptWithTimeout(parts, server, options, inbound);
  return toReinitResult(server.name, outcome, parts.clock.now());
}

interface AbortableInbound extends Inbound {
  readonly signal: AbortSignal;
}

/**
 * Ends the attempt for this caller after `connectionTimeout`. A connection or list request that other callers may share
 * continues, and the timeout does not count for the circuit breaker: otherwise a few callers with short timeouts could
 * block the server for all users.
 */
async function attemptWithTimeout(
  parts: ReinitParts,
  server: AllowedServer,
  options: ReinitOptions,
  inbound: Inbound,
): Promise<ReinitOutcome> {
  const { clock, inspectionScheduler } = parts;
  const { connectionTimeout } = options;
  const callerSignal = toAbortSignal(inbound.signal);
  if (connectionTimeout === undefined)
    return attempt(parts, server, options, { ...inbound, signal: callerSignal });
  const timeout = new AbortController();
  const signal = AbortSignal.any([callerSignal, timeout.signal]);
  const attempted = attempt(parts, server, options, { ...inbound, signal });
  return withTimeout(clock, connectionTimeout, attempted, (): ReinitOutcome => {
    timeout.abort();
    const isRepeated = inspectionScheduler.getState(server).kind === 'failed';
    return { kind: 'unreachable', code: 'MCP_TIMEOUT', isRepeated };
  });
}

async function attempt(
  parts: ReinitParts,
  server: AllowedServer,
  options: ReinitOptions,
  inbound: AbortableInbound,
): Promise<ReinitOutcome> {
  const repeatedFailure = await retryInspection(parts, server, inbound);
  if (repeatedFailure) return repeatedFailure;
  try {
    const budget = createTokenRequestBudget();
    const obtain = (signal: Cancellation = inbound.signal) =>
      prepareCredential(parts, server, { ...inbound, signal }, { budget, bypassesBreaker: true });
    const tools = await loadTools(parts, server, obtain, inbound, {
      refresh: true,
      lease: { bypassesBreaker: true, forceNew: options.forceNew ?? true },
    });
    return { kind: 'connected', tools: filterOffered(parts, server, inbound, tools) };
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    if (needsChatRequest(server, inbound) && isDeferrable(error)) return { kind: 'deferred' };
    if (error instanceof SignInRequired) return toSignInOutcome(parts, server, inbound, error);
    if (error instanceof ReauthNeeded) return toReauthOutcome(parts, server, inbound, error);
    if (error instanceof UpstreamError) return toUpstreamErrorOutcome(parts, server, inbound, error);
    if (
      error instanceof GatewayError &&
      (error.code === 'MCP_OBO_FORBIDDEN' || error.code.startsWith('OBO_'))
    ) {
      const retryable = error.code === 'OBO_TEMPORARY' || error.code === 'OBO_EMPTY_RESPONSE';
      return { kind: 'obo_failed', code: error.code, retryable, tools: null };
    }
    if (error instanceof GatewayError && error.code === 'MCP_USER_VARS_MISSING') {
      return { kind: 'user_vars_missing', names: (error.errors ?? []).map(({ path }) => path) };
    }
    throw error;
  }
}

/** Whether the definition contains fields of a chat request and this request has none. */
function needsChatRequest(server: AllowedServer, { fields }: Inbound): boolean {
  return server.scope === 'user' && server.requestScoped && !fields;
}

/** Whether a chat request will resolve the error. Missing user variables are not deferred: the user must enter them. */
function isDeferrable(error: unknown): boolean {
  return (
    error instanceof SignInRequired ||
    error instanceof ReauthNeeded ||
    (error instanceof GatewayError && error.code === 'REQUEST_INVALID')
  );
}

/** Repeats a failed inspection. Returns an outcome if the server is still unreachable. */
async function retryInspection(
  { inspectionScheduler }: ReinitParts,
  server: AllowedServer,
  { signal }: AbortableInbound,
): Promise<ReinitOutcome | undefined> {
  if (server.scope !== 'app' || inspectionScheduler.getState(server).kind !== 'failed') return undefined;
  const state = await inspectionScheduler.reinspect(server, signal);
  if (state.kind !== 'failed' || state.code === 'MCP_CREDENTIAL_REJECTED') return undefined;
  return { kind: 'unreachable', code: state.code, isRepeated: true, retryAt: state.retryAt };
}

function filterOffered(
  { policy }: PolicyParts,
  server: AllowedServer,
  { principal }: Inbound,
  { tools }: ToolList,
): ReinitTools {
  const currentPolicy = policy();
  return tools.filter((tool) => isToolAvailable(currentPolicy, principal, server, tool));
}

async function toUpstreamErrorOutcome(
  parts: ReinitParts,
  server: AllowedServer,
  inbound: AbortableInbound,
  error: UpstreamError,
): Promise<ReinitOutcome> {
  const { code, outcome, reason } = error;
  if (reason === 'unauthorized' && mayRequireOAuth(server))
    return toSignInOutcome(parts, server, inbound, new SignInRequired('absent'));
  if (code === 'MCP_CREDENTIAL_REJECTED') return { kind: 'credential_rejected' };
  if (outcome !== 'unreachable' && outcome !== 'unknown') return { kind: 'failed', code };
  // Listing tools has no side effects, so an unknown outcome only means that the server did not respond.
  const unreachableCode = code === 'MCP_OUTCOME_UNCERTAIN' ? 'MCP_UNREACHABLE' : code;
  return { kind: 'unreachable', code: unreachableCode, isRepeated: false };
}

/**
 * If the caller has no subject token, discovers the tools without credentials. If the provider rejected the subject
 * token, the caller gets no tools.
 */
async function toReauthOutcome(
  parts: ReinitParts,
  server: AllowedServer,
  inbound: AbortableInbound,
  { reason, detail: { code } }: ReauthNeeded,
): Promise<ReinitOutcome> {
  const hasNoSubject = reason === 'absent' || reason === 'expired_no_refresh';
  const tools = hasNoSubject ? await listUnauthenticated(parts, server, inbound) : null;
  return { kind: 'obo_failed', code, retryable: false, tools };
}

async function toSignInOutcome(
  parts: ReinitParts,
  server: AllowedServer,
  inbound: AbortableInbound,
  signInRequired: SignInRequired,
): Promise<ReinitOutcome> {
  const [tools, flow] = await Promise.all([
    listUnauthenticated(parts, server, inbound),
    startSignIn(parts, server, inbound, signInRequired),
  ]);
  return flow
    ? { kind: 'authorization_required', flow, tools }
    : { kind: 'authorization_unavailable', tools };
}

/** Null if no sign-in is possible. */
async function startSignIn(
  { signInStarter }: ReinitParts,
  server: AllowedServer,
  { principal }: AbortableInbound,
  signInRequired: SignInRequired,
): Promise<FlowView | null> {
  // Only users sign in, and only at user-scoped servers.
  if (server.scope !== 'user' || principal.kind !== 'user') return null;
  try {
    return await signInStarter.start(server, principal, signInRequired);
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

async function listUnauthenticated(
  parts: ReinitParts,
  server: AllowedServer,
  inbound: AbortableInbound,
): Promise<ReinitTools | null> {
  const listed = await discoverUnauthenticated(parts, server, inbound.signal);
  if (!listed) return null;
  const tools = await parts.catalog.load(server, ownerKey(server, inbound.principal), async () => listed, {
    signal: inbound.signal,
    // A list that was fetched with the user's credential takes precedence.
    onlyIfUnknown: true,
  });
  return filterOffered(parts, server, inbound, tools);
}
