import type { ErrorCode, FlowView } from '@behalf/contracts';
import { toAbortSignal, within, type Cancellation, type Clock } from '@behalf/kernel';
import type { Catalog, ToolList } from '../catalog/catalog.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { ReauthNeeded } from '../credentials/reauthNeeded.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { toolOffered, type PolicyParts } from '../policy/toolOffered.ts';
import { couldSignIn } from '../registry/couldSignIn.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Inspection } from '../registry/inspection.ts';
import { renderTarget } from '../registry/renderTarget.ts';
import type { UserServer } from '../registry/server.ts';
import { enter, prepare, type AskParts } from '../toolcall/askServer.ts';
import type { Inbound } from '../toolcall/call.ts';
import type { Allowed } from '../toolcall/checkAccess.ts';
import { holderKey, loadTools } from '../toolcall/loadTools.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { bareSettings } from './bareSettings.ts';
import { discoverBare, type BareParts } from './discoverBare.ts';
import { describeOutcome, type Offered, type Reinitialized, type ReinitOutcome } from './outcome.ts';

export interface ReinitParts extends AskParts, BareParts, PolicyParts {
  readonly catalog: Catalog;
  readonly inspection: Inspection;
  readonly clock: Clock;
  /** Begins sign-ins at servers. */
  readonly signIns: SignIns;
}

export interface ReinitOptions {
  /** False keeps a connection that works. */
  readonly forceNew?: boolean | undefined;
  /** Milliseconds that this caller waits. What was begun goes on for the others, within the server's own limits. */
  readonly connectionTimeout?: number | undefined;
}

/** Where users are led to when they have to sign in at a server. */
export interface SignIns {
  /** The one that is under way, or a new one. Rejects with a `GatewayError` when none can be offered. */
  start(server: Allowed<UserServer>, principal: UserPrincipal, needed: SignInRequired): Promise<FlowView>;
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
): Promise<Reinitialized> {
  const server = enter(parts, inbound, name, 'MCP_SERVER_NOT_FOUND');
  const outcome = await withPatience(parts, server, options, inbound);
  return describeOutcome(server.name, outcome, parts.clock.now());
}

/** A caller whose own signal can also end the attempt for them. */
interface Caller extends Inbound {
  readonly signal: AbortSignal;
}

/**
 * Who loses patience has left, as far as the attempt goes: nothing more is begun for them. A connection or a list under
 * way is not theirs alone, so it goes on, and no breaker hears of it: otherwise a few callers in a hurry would shut
 * everybody out.
 */
async function withPatience(
  parts: ReinitParts,
  server: Allowed,
  options: ReinitOptions,
  inbound: Inbound,
): Promise<ReinitOutcome> {
  const { clock, inspection } = parts;
  const { connectionTimeout } = options;
  const left = toAbortSignal(inbound.signal);
  if (connectionTimeout === undefined) return attempt(parts, server, options, { ...inbound, signal: left });
  const impatience = new AbortController();
  const signal = AbortSignal.any([left, impatience.signal]);
  const attempted = attempt(parts, server, options, { ...inbound, signal });
  return within(clock, connectionTimeout, attempted, (): ReinitOutcome => {
    impatience.abort();
    const still = inspection.stateOf(server).kind === 'failed';
    return { kind: 'unreachable', code: 'MCP_TIMEOUT', still };
  });
}

async function attempt(
  parts: ReinitParts,
  server: Allowed,
  options: ReinitOptions,
  inbound: Caller,
): Promise<ReinitOutcome> {
  const still = await inspectAgain(parts, server, inbound);
  if (still) return still;
  try {
    const purse = createTokenRequestBudget();
    const obtain = (signal: Cancellation = inbound.signal) =>
      prepare(parts, server, { ...inbound, signal }, { purse, explicit: true });
    const tools = await loadTools(parts, server, obtain, inbound, {
      refresh: true,
      lease: { explicit: true, forceNew: options.forceNew ?? true },
    });
    return { kind: 'connected', tools: offered(parts, server, inbound, tools) };
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    if (waitsForChat(server, inbound) && isDeferrable(error)) return { kind: 'deferred' };
    if (error instanceof SignInRequired) return signInMissing(parts, server, inbound, error);
    if (error instanceof ReauthNeeded) return ownSignInMissing(parts, server, inbound, error);
    if (error instanceof UpstreamError) return refused(parts, server, inbound, error);
    if (error instanceof GatewayError && isAboutExchange(error.code)) {
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
function waitsForChat(server: Allowed, { fields }: Inbound): boolean {
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
async function inspectAgain(
  { inspection }: ReinitParts,
  server: Allowed,
  { signal }: Caller,
): Promise<ReinitOutcome | undefined> {
  if (server.scope !== 'app' || inspection.stateOf(server).kind !== 'failed') return undefined;
  const now = await inspection.reinspect(server, signal);
  if (now.kind !== 'failed' || now.code === 'MCP_CREDENTIAL_REJECTED') return undefined;
  return { kind: 'unreachable', code: now.code, still: true, retryAt: now.retryAt };
}

function offered(
  { policy }: PolicyParts,
  server: Allowed,
  { principal }: Inbound,
  { tools }: ToolList,
): Offered {
  const current = policy();
  return tools.filter((tool) => toolOffered(current, principal, server, tool));
}

async function refused(
  parts: ReinitParts,
  server: Allowed,
  inbound: Caller,
  error: UpstreamError,
): Promise<ReinitOutcome> {
  const { code, outcome, reason, detail } = error;
  if (reason === 'unauthorized' && couldSignIn(server))
    return signInMissing(parts, server, inbound, new SignInRequired('absent'));
  if (code === 'MCP_CREDENTIAL_REJECTED') {
    return { kind: 'credential_rejected', status: detail.status ?? 401 };
  }
  if (outcome === 'unreachable' || outcome === 'unknown') {
    return { kind: 'unreachable', code: unreachableCode(code), still: false };
  }
  return { kind: 'failed', code };
}

/** Nothing was run here, so "the outcome is uncertain" would only worry people. */
function unreachableCode(code: ErrorCode): ErrorCode {
  return code === 'MCP_OUTCOME_UNCERTAIN' ? 'MCP_UNREACHABLE' : code;
}

function isAboutExchange(code: ErrorCode): boolean {
  return code === 'MCP_OBO_FORBIDDEN' || code.startsWith('OBO_');
}

/**
 * Of a caller who has nothing to exchange, a server that is trusted may be asked for its tools bare: no credential
 * travels. One who was refused gets nothing instead.
 */
async function ownSignInMissing(
  parts: ReinitParts,
  server: Allowed,
  inbound: Caller,
  { reason, detail: { code } }: ReauthNeeded,
): Promise<ReinitOutcome> {
  const hasNothing = reason === 'absent' || reason === 'expired_no_refresh';
  const tools = hasNothing ? await bareTools(parts, server, inbound) : null;
  return { kind: 'obo_failed', code, retryable: false, tools };
}

async function signInMissing(
  parts: ReinitParts,
  server: Allowed,
  inbound: Caller,
  needed: SignInRequired,
): Promise<ReinitOutcome> {
  const [tools, flow] = await Promise.all([
    bareTools(parts, server, inbound),
    startSignIn(parts, server, inbound, needed),
  ]);
  return flow
    ? { kind: 'authorization_required', flow, tools }
    : { kind: 'authorization_unavailable', tools };
}

/** A sign-in for this user to go on with, the one that is under way if there is one; null where none can be offered. */
async function startSignIn(
  { signIns }: ReinitParts,
  server: Allowed,
  { principal }: Caller,
  needed: SignInRequired,
): Promise<FlowView | null> {
  // Who waits for nobody, and what everybody shares, signs nobody in.
  if (server.scope !== 'user' || principal.kind !== 'user') return null;
  try {
    return await signIns.start(server, principal, needed);
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

async function bareTools(parts: ReinitParts, server: Allowed, inbound: Caller): Promise<Offered | null> {
  const bare = bareSettings(server.settings);
  const rendered = bare && renderTarget(bare, {}, { audience: server.audience, inheritedEnv: {} });
  if (!rendered?.ok || rendered.target.type === 'stdio') return null;
  const { target } = rendered;
  const listed = await discoverBare(parts, server, target, inbound.signal);
  if (!listed) return null;
  const tools = await parts.catalog.load(server, holderKey(server, inbound.principal), async () => listed, {
    signal: inbound.signal,
    // What the user's own credential once showed is worth more.
    onlyIfUnknown: true,
  });
  return offered(parts, server, inbound, tools);
}
