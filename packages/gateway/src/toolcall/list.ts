import { type Cancellation, type Clock, toAbortSignal } from '@behalf/kernel';
import {
  type AllowedServer,
  type ServerLookupParts,
  findServer,
  listAllowedServers,
} from '../access/allowedServer.ts';
import type { LeaseOptions } from '../connections/connectionManager.ts';
import { createTokenRequestBudget } from '../credentials/obo/bearer.ts';
import { ReauthNeeded, SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type Principal, principalKey } from '../principal/principal.ts';
import type { AppServer, ServerSnapshot } from '../servers/definition.ts';
import type { InspectionOptions, InspectionResult } from '../servers/inspection.ts';
import type { Catalog, ToolList } from '../tools/catalog.ts';
import { type Absence, type ServerTools, type VisibleTools, listForUser } from '../tools/listForUser.ts';
import { type PolicyParts, decideTool, isToolAvailable } from '../tools/policy.ts';
import type { ItemList, ListAll, ListMethod } from '../upstream/listAll.ts';
import type { ServerClaims } from '../upstream/upstream.ts';
import type { PreparedTarget } from './credential.ts';
import type { Inbound } from './inbound.ts';
import { collectPresentedSecrets, maskPresentedSecrets, redactSecrets } from './mask.ts';
import { getSignInReason, toCallerError } from './outcome.ts';
import {
  canRetry,
  isCredentialReplaced,
  isTokenRefused,
  retryAfterRefusal,
  runLastAttempt,
  toStepUpError,
} from './retry.ts';
import {
  MAX_CALL_MS,
  type SendParts,
  leaseConnection,
  prepareCredential,
  requestOptions,
  resolveAllowedServer,
} from './send.ts';

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

export interface SingleServerTools extends ServerTools {
  /** The names of those that wait for their user's word with each call. */
  readonly requiringApproval: ReadonlySet<string>;
}

/** The tools this caller has of one server, under the names that they have among those of all. */
export async function listServerTools(
  parts: ListToolsParts,
  inbound: Inbound,
  name: string,
): Promise<SingleServerTools> {
  const { principal } = inbound;
  const server = findServer(parts, principal, name);
  // What is not known yet cannot clash yet: nobody waits for other servers here.
  const otherTools = listAllowedServers(parts, principal).flatMap((other) => {
    const list = other === server ? undefined : parts.catalog.peek(other, ownerKey(other, principal));
    return list ? [{ server: other, list }] : [];
  });
  const [listed] = (await listToolsOfServers(parts, inbound, [server], otherTools)) as [ServerTools];
  const policy = parts.policy();
  const askingTools = listed.tools.filter((tool) => decideTool(policy, principal, server, tool) === 'ask');
  return { ...listed, requiringApproval: new Set(askingTools.map((tool) => tool.name)) };
}

export type ListServerParts = SendParts & LoadToolsParts;

/** What a server offers of one kind, asked for anew. */
export async function listServer(
  parts: ListServerParts,
  name: string,
  method: ListMethod,
  inbound: Inbound,
): Promise<ItemList> {
  const server = resolveAllowedServer(parts, inbound, name, 'MCP_SERVER_NOT_FOUND');
  try {
    return await listWithRetry(parts, () => prepareCredential(parts, server, inbound), inbound, method);
  } catch (error) {
    throw toCallerError(error, server);
  }
}

export interface LoadToolsParts extends Pick<SendParts, 'connections'> {
  readonly catalog: Catalog;
  /** Every page of a list, within the budgets. */
  readonly listAll: ListAll;
}

/** Whose list it is: everybody's for a shared server, the caller's own otherwise. */
export function ownerKey(server: ServerSnapshot, principal: Principal): string {
  return server.scope === 'app' ? '' : principalKey(principal);
}

export interface LoadToolsOptions {
  readonly refresh?: boolean | 'if-old';
  readonly lease?: Omit<LeaseOptions, 'signal'>;
}

/** What this caller presents. With the signal of those who wait for it, where they are more than one. */
export type PrepareTarget = (signal?: Cancellation) => Promise<PreparedTarget>;

/**
 * The tools this caller has on this server, asked for unless they are known: only then is a credential obtained, and
 * anew for each listing. One from before the listing began may be the one that was replaced since.
 */
export function loadTools(
  parts: LoadToolsParts,
  server: AllowedServer,
  obtain: PrepareTarget,
  inbound: Inbound,
  { refresh = false, lease = {} }: LoadToolsOptions = {},
): Promise<ToolList> {
  return parts.catalog.load(
    server,
    ownerKey(server, inbound.principal),
    async (signal) =>
      listWithRetry(parts, () => obtain(signal), listInbound(server, inbound, signal), 'tools/list', lease),
    { signal: inbound.signal, refresh },
  );
}

/**
 * Who asks for a list. What everybody waits for is nobody's own: the hop count of whoever came first would refuse it to
 * all the others, and that one's trace and baggage are not theirs.
 */
function listInbound(server: AllowedServer, inbound: Inbound, signal: AbortSignal): Inbound {
  if (server.scope === 'user') return { ...inbound, signal };
  const { principal, door } = inbound;
  return { principal, door, signal };
}

/** One list over a connection of its own lease; a connection that was gone before it is replaced once, as for calls. */
async function listWithRetry(
  parts: Pick<LoadToolsParts, 'connections' | 'listAll'>,
  obtain: () => Promise<PreparedTarget>,
  inbound: Inbound,
  method: ListMethod,
  options: Omit<LeaseOptions, 'signal'> = {},
): Promise<ItemList> {
  const prepared = await obtain();
  const list = (target: PreparedTarget) => listOnce(parts, target, inbound, method, options);
  try {
    return await list(prepared);
  } catch (error) {
    if (inbound.signal.aborted) throw error;
    const stepUpError = toStepUpError(error, prepared);
    if (stepUpError) throw stepUpError;
    if (isTokenRefused(error, prepared))
      return retryAfterRefusal(error, prepared, inbound.signal, { resend: list, prepareFresh: obtain });
    // Signed in anew before anything was sent.
    if (error instanceof SignInRequired && isCredentialReplaced(prepared))
      return runLastAttempt(await obtain(), list);
    if (!canRetry(error, prepared.server)) throw error;
    return runLastAttempt(prepared, list);
  }
}

async function listOnce(
  parts: Pick<LoadToolsParts, 'connections' | 'listAll'>,
  prepared: PreparedTarget,
  inbound: Inbound,
  method: ListMethod,
  options: Omit<LeaseOptions, 'signal'>,
): Promise<ItemList> {
  const lease = await leaseConnection(parts.connections, prepared, { ...options, signal: inbound.signal });
  let failure: unknown;
  try {
    const listed = await parts.listAll(lease.upstream, method, requestOptions(prepared, inbound));
    if (method !== 'tools/list') return listed;
    return withInstructions(listed, prepared.server, {
      claims: lease.upstream.claims,
      maskText: (text) => maskPresentedSecrets(text, prepared),
    });
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    lease.release(failure);
  }
}

/** A first look at a shared server, for nobody in particular: its connection stands and its tools are known after it. */
export async function inspectServer(
  { connections, catalog, listAll }: LoadToolsParts,
  server: AppServer,
  { signal, bypassesBreaker }: InspectionOptions,
): Promise<InspectionResult> {
  const lease = await connections.shared.lease(server, { signal, bypassesBreaker });
  const { target, settings } = server;
  let failure: unknown;
  try {
    const options = {
      timeoutMs: settings.timeout,
      totalMs: MAX_CALL_MS,
      ...(target.type !== 'stdio' && { headers: target.headers }),
    };
    // With the catalog's signal: others may wait for the same list, whatever becomes of this look.
    const listShared = async (sharedSignal: AbortSignal) =>
      withInstructions(
        await listAll(lease.upstream, 'tools/list', { ...options, signal: sharedSignal }),
        server,
        {
          claims: lease.upstream.claims,
          maskText: (text) => redactSecrets(text, collectPresentedSecrets(target)),
        },
      );
    const { tools } = await catalog.load(server, '', listShared, { signal, refresh: true });
    return { claims: lease.upstream.claims, toolCount: tools.length };
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    lease.release(failure);
  }
}

/** What a model should know of a server, and who says so. */
export interface ServerInstructions {
  readonly text: string;
  readonly source: 'operator' | 'server';
}

/** What came when the conversation opened. */
interface InstructionSource {
  readonly claims: Pick<ServerClaims, 'instructions'>;
  /** Takes out what the server was shown to let us in. */
  readonly maskText: (text: string) => string;
}

/** Of one server. It is sent with every conversation. */
const MAX_INSTRUCTIONS_LENGTH = 2_000;

/**
 * The list with what its server says of itself, where the operator wants that passed on (`serverInstructions: true`). It is kept
 * with the tools, so it is everybody's for a shared server and one user's otherwise.
 */
function withInstructions(
  listed: ItemList,
  { settings }: ServerSnapshot,
  { claims, maskText }: InstructionSource,
): ItemList {
  if (settings.serverInstructions !== true || claims.instructions === undefined) return listed;
  const text = truncateText(maskText(sanitizeText(claims.instructions)), MAX_INSTRUCTIONS_LENGTH);
  return text === '' ? listed : { ...listed, instructions: text };
}

/** As `serverInstructions` has it. Of a server's own words what is known: nobody waits for it. */
export function getServerInstructions(
  { catalog }: Pick<LoadToolsParts, 'catalog'>,
  principal: Principal,
  server: ServerSnapshot,
): ServerInstructions | undefined {
  const { serverInstructions: configured } = server.settings;
  // What a user wrote about a server of theirs is not for the models of others.
  if (configured === false || server.source === 'user') return undefined;
  if (configured !== true)
    return configured.trim() === ''
      ? undefined
      : { text: truncateText(configured, MAX_INSTRUCTIONS_LENGTH), source: 'operator' };
  const text = catalog.peek(server, ownerKey(server, principal))?.instructions;
  return text === undefined ? undefined : { text, source: 'server' };
}

/** What breaks a line somewhere, whatever it is called. */
const LINE_BREAKS = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;
/** What nobody sees: control characters, marks that turn the direction, tags. Joiners are part of words in some scripts. */
const INVISIBLE_CHARACTERS = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** A text that a server chose, as it can be shown and read: lines of what can be seen, and nothing hidden between it. */
function sanitizeText(text: string): string {
  const visible = text.replace(LINE_BREAKS, '\n').replace(INVISIBLE_CHARACTERS, '');
  return visible.replace(/\n{3,}/g, '\n\n').trim();
}

/** The beginning of a text, as a copy: a part of a string keeps the whole of it in memory. Half a character is none. */
function truncateText(text: string, maxLength: number): string {
  return Buffer.from(text.slice(0, maxLength))
    .toString()
    .replace(/\ufffd$/, '');
}
