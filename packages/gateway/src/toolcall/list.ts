import { type Clock, toAbortSignal } from '@behalf/kernel';
import {
  type AllowedServer,
  type ServerLookupParts,
  findServer,
  listAllowedServers,
} from '../access/allowedServer.ts';
import type { Lease, LeaseOptions } from '../connections/connectionManager.ts';
import { ReauthNeeded, SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { AppServer, ServerSnapshot } from '../definitions/definition.ts';
import type { InspectionOptions, InspectionResult } from '../servers/inspection.ts';
import { type Catalog, type ToolList, ownerKey } from '../tools/catalog.ts';
import { type Absence, type ServerTools, type VisibleTools, listForUser } from '../tools/listForUser.ts';
import { type PolicyParts, decideTool, isToolAvailable } from '../tools/policy.ts';
import type { ItemList, ListAll, ListMethod } from '../upstream/listAll.ts';
import type { Upstream, UpstreamRequestOptions } from '../upstream/upstream.ts';
import {
  type PrepareTarget,
  type PreparedTarget,
  type SendParts,
  createPrepareTarget,
  prepareCredential,
  resolveAllowedServer,
} from './credential.ts';
import type { Inbound } from './inbound.ts';
import { collectPresentedSecrets, maskPresentedSecrets, redactSecrets } from './mask.ts';
import { getSignInReason, toCallerError } from './outcome.ts';
import { canRetry, retryOnce } from './retry.ts';
import { MAX_CALL_MS, leaseConnection, requestOptions } from './send.ts';

export interface ListToolsParts extends ServerLookupParts, SendParts, LoadToolsParts, PolicyParts {
  readonly registry: ServerLookupParts['registry'] & SendParts['registry'];
  readonly clock: Clock;
}

/** The tools of all servers of this caller. A call finds exactly these tools. */
export async function listTools(parts: ListToolsParts, inbound: Inbound): Promise<ServerTools[]> {
  return listToolsOfServers(parts, inbound, listAllowedServers(parts, inbound.principal));
}

/** The tools of some servers. `otherTools` are the known tools of the caller's other servers, for unique public names. */
export async function listToolsOfServers(
  parts: ListToolsParts,
  inbound: Inbound,
  selected: readonly AllowedServer[],
  otherTools: readonly VisibleTools[] = [],
): Promise<ServerTools[]> {
  const signedOut = new Set<ServerSnapshot>();
  const policy = parts.policy();
  const listed = await listForUser(selected, load, {
    clock: parts.clock,
    signal: toAbortSignal(inbound.signal),
    explain: (error, server) => (getSignInReason(error, server) === undefined ? undefined : SIGN_IN_NEEDED),
    otherTools,
  });
  return listed.map((entry) => ({
    ...entry,
    ...(signedOut.has(entry.server) && SIGN_IN_NEEDED),
    tools: entry.tools.filter((tool) => isToolAvailable(policy, inbound.principal, entry.server, tool)),
  }));

  async function load(server: AllowedServer, signal: AbortSignal): Promise<ToolList> {
    try {
      const serverInbound = { ...inbound, signal };
      const obtain = createPrepareTarget(parts, server, serverInbound);
      // Also if the list is cached: without a credential, no tool of the list can be called.
      await obtain();
      return await loadTools(parts, server, obtain, serverInbound);
    } catch (error) {
      // Show the cached list if only a sign-in or the fields of a chat request are missing.
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

export interface SingleServerTools extends ServerTools {
  /** Names of the tools that need an approval for each call. */
  readonly requiringApproval: ReadonlySet<string>;
}

/** The tools of one server, with the same public names as in the list of all servers. */
export async function listServerTools(
  parts: ListToolsParts,
  inbound: Inbound,
  name: string,
): Promise<SingleServerTools> {
  const { principal } = inbound;
  const server = findServer(parts, principal, name);
  // Only cached tools of other servers can clash, so this does not wait for other servers.
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

/** Requests one list of a server, without a cache. */
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
  /** Reads all pages of a list, within limits. */
  readonly listAll: ListAll;
}

export interface LoadToolsOptions {
  readonly refresh?: boolean | 'if-old';
  readonly lease?: Omit<LeaseOptions, 'signal'>;
}

/**
 * The caller's tools on this server, from the catalog or the server. Each listing prepares a new credential: one from before
 * the listing may have been replaced since.
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

/** `loadTools` with the credential of the caller. */
export function loadCallerTools(
  parts: ListServerParts,
  server: AllowedServer,
  inbound: Inbound,
  options?: LoadToolsOptions,
): Promise<ToolList> {
  return loadTools(parts, server, createPrepareTarget(parts, server, inbound), inbound, options);
}

/**
 * The request context of a listing. All users wait for the list of a shared server, so it carries no hop count, trace or
 * baggage of the first caller.
 */
function listInbound(server: AllowedServer, inbound: Inbound, signal: AbortSignal): Inbound {
  if (server.scope === 'user') return { ...inbound, signal };
  const { principal, door } = inbound;
  return { principal, door, signal };
}

async function listWithRetry(
  parts: Pick<LoadToolsParts, 'connections' | 'listAll'>,
  obtain: () => Promise<PreparedTarget>,
  inbound: Inbound,
  method: ListMethod,
  options: Omit<LeaseOptions, 'signal'> = {},
): Promise<ItemList> {
  const prepared = await obtain();
  const attempt = (target: PreparedTarget) => listOnce(parts, target, inbound, method, options);
  try {
    return await attempt(prepared);
  } catch (error) {
    return retryOnce(error, prepared, inbound.signal, {
      attempt,
      prepareFresh: obtain,
      getRetry: (failure) => (canRetry(failure, prepared.server) ? attempt : undefined),
    });
  }
}

async function listOnce(
  { connections, listAll }: Pick<LoadToolsParts, 'connections' | 'listAll'>,
  prepared: PreparedTarget,
  inbound: Inbound,
  method: ListMethod,
  options: Omit<LeaseOptions, 'signal'>,
): Promise<ItemList> {
  const lease = await leaseConnection(connections, prepared, { ...options, signal: inbound.signal });
  return useLease(lease, async (upstream) => {
    const listed = await listAll(upstream, method, requestOptions(prepared, inbound));
    if (method !== 'tools/list') return listed;
    const maskText = (text: string) => maskPresentedSecrets(text, prepared);
    return withInstructions(listed, prepared.server, upstream, maskText);
  });
}

/** Reports the failure of the work to the lease. */
async function useLease<T>(lease: Lease, work: (upstream: Upstream) => Promise<T>): Promise<T> {
  let failure: unknown;
  try {
    return await work(lease.upstream);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    lease.release(failure);
  }
}

/** Connects a shared server and lists its tools, without a caller. Afterwards the connection is open and the list cached. */
export async function inspectServer(
  { connections, catalog, listAll }: LoadToolsParts,
  server: AppServer,
  { signal, bypassesBreaker }: InspectionOptions,
): Promise<InspectionResult> {
  const lease = await connections.shared.lease(server, { signal, bypassesBreaker });
  const { target, settings } = server;
  const maskText = (text: string) => redactSecrets(text, collectPresentedSecrets(target));
  return useLease(lease, async (upstream) => {
    // The catalog's signal: callers may wait for the same list after the inspection was aborted.
    const listShared = async (sharedSignal: AbortSignal) => {
      const options: UpstreamRequestOptions = {
        signal: sharedSignal,
        timeoutMs: settings.timeout,
        totalMs: MAX_CALL_MS,
        ...(target.type !== 'stdio' && { headers: target.headers }),
      };
      return withInstructions(await listAll(upstream, 'tools/list', options), server, upstream, maskText);
    };
    const { tools } = await catalog.load(server, '', listShared, { signal, refresh: true });
    return { claims: upstream.claims, toolCount: tools.length };
  });
}

/** Instructions for the model on how to use a server. */
export interface ServerInstructions {
  readonly text: string;
  readonly source: 'operator' | 'server';
}

/** Per server. The instructions are part of every conversation. */
const MAX_INSTRUCTIONS_LENGTH = 2_000;

/**
 * Adds the instructions that the server sent at initialization, if the operator forwards them (`serverInstructions: true`). They
 * are cached with the tools, so the instructions of a user-scoped server reach only that user.
 */
function withInstructions(
  listed: ItemList,
  { settings }: ServerSnapshot,
  { claims }: Pick<Upstream, 'claims'>,
  maskText: (text: string) => string,
): ItemList {
  if (settings.serverInstructions !== true || claims.instructions === undefined) return listed;
  const text = truncateText(maskText(sanitizeText(claims.instructions)), MAX_INSTRUCTIONS_LENGTH);
  return text === '' ? listed : { ...listed, instructions: text };
}

/** The instructions of a server according to `serverInstructions`. The server's own come from the cache. */
export function getServerInstructions(
  { catalog }: Pick<LoadToolsParts, 'catalog'>,
  principal: Principal,
  server: ServerSnapshot,
): ServerInstructions | undefined {
  const { serverInstructions: configured } = server.settings;
  // Text of one user about their own server must not reach the models of others.
  if (configured === false || server.source === 'user') return undefined;
  if (configured !== true)
    return configured.trim() === ''
      ? undefined
      : { text: truncateText(configured, MAX_INSTRUCTIONS_LENGTH), source: 'operator' };
  const text = catalog.peek(server, ownerKey(server, principal))?.instructions;
  return text === undefined ? undefined : { text, source: 'server' };
}

const LINE_BREAKS = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;
/** Control and format characters, such as direction marks and tags. Joiners stay: some scripts need them. */
const INVISIBLE_CHARACTERS = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu;

/** Removes invisible characters, so that the reviewed text is the text that the model reads. */
function sanitizeText(text: string): string {
  const visible = text.replace(LINE_BREAKS, '\n').replace(INVISIBLE_CHARACTERS, '');
  return visible.replace(/\n{3,}/g, '\n\n').trim();
}

/** Copies the beginning of a text: a slice would keep the whole string in memory. Drops a split surrogate pair at the end. */
function truncateText(text: string, maxLength: number): string {
  return Buffer.from(text.slice(0, maxLength))
    .toString()
    .replace(/\ufffd$/, '');
}
