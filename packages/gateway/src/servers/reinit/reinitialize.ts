import type { ErrorCode, FlowView } from '@behalf/contracts';
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
import type { InspectionScheduler } from '../inspectionScheduler.ts';
import { renderTarget, withoutCredentials } from '../render.ts';
import { type UnauthenticatedParts, discoverUnauthenticated } from './discovery.ts';
import { type ReinitOutcome, type ReinitResult, type ReinitTools, toReinitResult } from './outcome.ts';

export interface ReinitParts extends SendParts, UnauthenticatedParts, PolicyParts {
  readonly catalog: Catalog;
  readonly inspectionScheduler: InspectionScheduler;
  readonly clock: Clock;
  /** Begins sign-ins at servers. */
  readonly signInStarter: SignInStarter;
}

export interface ReinitOptions {
  /** False keeps a connection that works. */
  readonly forceNew?: boolean | undefined;
  /** Milliseconds that this caller waits. What was begun goes on for the others, within the server's own limits. */
  readonly connectionTimeout?: number | undefined;
}

/** Where users are led to when they have to sign in at a server. */
export interface SignInStarter {
  /** The one that is under way, or a new one. Rejects with a `GatewayError` when none can be offered. */
  start(
    server: AllowedServer<UserServer>,
    principal: UserPrincipal,
    signInRequired: SignInRequired,
  ): Promise<FlowView>;
}

/**
 * Brings a server up anew for this user and says what is missing if it does not work. When that is a sign-in, its
 * tools are asked for without one.
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

/** A caller whose own signal can also end the attempt for them. */
interface AbortableInbound extends Inbound {
  readonly signal: AbortSignal;
}

/**
 * Who loses patience has left, as far as the attempt goes: nothing more is begun for them. A connection or a list under
 * way is not theirs alone, so it goes on, and no breaker hears of it: otherwise a few callers in a hurry would shut
 * everybody out.
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
    if (error instanceof UpstreamError) return toRefusedOutcome(parts, server, inbound, error);
    if (error instanceof GatewayError && isExchangeError(error.code)) {
      const retryable = error.code === 'OBO_TEMPORARY' || error.code === 'OBO_EMPTY_RESPONSE';
      return { kind: 'obo_failed', code: error.code, retryable, tools: null };
    }
    if (error instanceof GatewayError && error.code === 'MCP_USER_VARS_MISSING') {
      return { kind: 'user_vars_missing', names: (error.errors ?? []).map(({ path }) => path) };
    }
    throw error;
  }
}

/** It names fields of a chat request, and this is none. */
function needsChatRequest(server: AllowedServer, { fields }: Inbound): boolean {
  return server.scope === 'user' && server.requestScoped && !fields;
}

/** What a chat brings along, or asks for when it comes. Values that the user must fill in are told now. */
function isDeferrable(error: unknown): boolean {
  return (
    error instanceof SignInRequired ||
    error instanceof ReauthNeeded ||
    (error instanceof GatewayError && error.code === 'REQUEST_INVALID')
  );
}

/** Looks again at a server whose inspection failed: who asks explicitly is not put off with what was remembered. */
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

async function toRefusedOutcome(
  parts: ReinitParts,
  server: AllowedServer,
  inbound: AbortableInbound,
  error: UpstreamError,
): Promise<ReinitOutcome> {
  const { code, outcome, reason, detail } = error;
  if (reason === 'unauthorized' && mayRequireOAuth(server))
    return toSignInOutcome(parts, server, inbound, new SignInRequired('absent'));
  if (code === 'MCP_CREDENTIAL_REJECTED') {
    return { kind: 'credential_rejected', status: detail.status ?? 401 };
  }
  if (outcome === 'unreachable' || outcome === 'unknown') {
    return { kind: 'unreachable', code: unreachableCode(code), isRepeated: false };
  }
  return { kind: 'failed', code };
}

/** Nothing was run here, so "the outcome is uncertain" would only worry people. */
function unreachableCode(code: ErrorCode): ErrorCode {
  return code === 'MCP_OUTCOME_UNCERTAIN' ? 'MCP_UNREACHABLE' : code;
}

function isExchangeError(code: ErrorCode): boolean {
  return code === 'MCP_OBO_FORBIDDEN' || code.startsWith('OBO_');
}

/**
 * Of a caller who has nothing to exchange, a server that is trusted may be asked for its tools bare: no credential
 * travels. One who was refused gets nothing instead.
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

/** A sign-in for this user to go on with, the one that is under way if there is one; null where none can be offered. */
async function startSignIn(
  { signInStarter }: ReinitParts,
  server: AllowedServer,
  { principal }: AbortableInbound,
  signInRequired: SignInRequired,
): Promise<FlowView | null> {
  // Who waits for nobody, and what everybody shares, signs nobody in.
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
  const unauthenticated = withoutCredentials(server.settings);
  const rendered =
    unauthenticated && renderTarget(unauthenticated, {}, { audience: server.audience, inheritedEnv: {} });
  if (!rendered?.ok || rendered.target.type === 'stdio') return null;
  const { target } = rendered;
  const listed = await discoverUnauthenticated(parts, server, target, inbound.signal);
  if (!listed) return null;
  const tools = await parts.catalog.load(server, ownerKey(server, inbound.principal), async () => listed, {
    signal: inbound.signal,
    // What the user's own credential once showed is worth more.
    onlyIfUnknown: true,
  });
  return filterOffered(parts, server, inbound, tools);
}
