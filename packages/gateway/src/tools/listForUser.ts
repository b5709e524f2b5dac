import type { ErrorCode } from '@behalf/contracts';
import { type Clock, withTimeout } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import type { IncompleteReason } from '../upstream/listAll.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { type NamedIdentity, assignToolNames } from './names.ts';
import type { CatalogTool, ToolList } from './toolList.ts';

/** The tools of one server for a caller, or the reason why there are none. */
export interface ServerTools {
  readonly server: ServerSnapshot;
  readonly state: ServerAvailability;
  readonly tools: readonly CatalogTool[];
  readonly incomplete: IncompleteReason | undefined;
  readonly code: ErrorCode | undefined;
  /** For the log only. */
  readonly cause: unknown;
}

interface ListForUserOptions<S extends ServerSnapshot> extends EachServerOptions<S> {
  /** Known tools of the caller's other servers, so that public names are unique. */
  readonly otherTools?: readonly VisibleTools[];
}

/** Lists the tools of several servers. A server that fails or hangs does not affect the others. */
export async function listForUser<S extends ServerSnapshot>(
  servers: readonly S[],
  loadOne: (server: S, signal: AbortSignal) => Promise<ToolList>,
  { otherTools = [], ...options }: ListForUserOptions<S>,
): Promise<ServerTools[]> {
  const lists = await loadFromEachServer(servers, loadOne, options);
  const renamed = renameClashes(lists, otherTools);
  return lists.map(([server, list]): ServerTools => {
    if ('absence' in list) {
      const { absence, cause } = list;
      return { server, tools: [], incomplete: undefined, ...absence, cause };
    }
    const tools = list.tools.map((tool) => renamed.get(tool) ?? tool);
    return {
      server,
      state: 'connected',
      tools,
      incomplete: list.incomplete,
      code: undefined,
      cause: undefined,
    };
  });
}

/** If tools of several servers have the same preferred name, each gets another public name. Calls are routed by it. */
function renameClashes(
  lists: readonly (readonly [ServerSnapshot, ToolList | LoadFailure])[],
  otherTools: readonly VisibleTools[],
) {
  const renamed = new Map<CatalogTool, CatalogTool>();
  const visible = lists.flatMap(([server, list]) => ('absence' in list ? [] : [{ server, list }]));
  for (const [publicName, { tool }] of assignPublicNames([...visible, ...otherTools])) {
    if (tool.publicName !== publicName) renamed.set(tool, Object.freeze({ ...tool, publicName }));
  }
  return renamed;
}

/** The tools of one server for one caller. */
export interface VisibleTools {
  readonly server: ServerSnapshot;
  readonly list: ToolList;
}

interface PublicTool {
  readonly server: ServerSnapshot;
  readonly tool: CatalogTool;
}

interface NamedTool extends NamedIdentity, PublicTool {}

/** Unique public names for all tools of a caller. */
export function assignPublicNames(visible: readonly VisibleTools[]): ReadonlyMap<string, PublicTool> {
  return assignToolNames(
    visible.flatMap(({ server, list }) =>
      list.tools.map((tool): NamedTool => ({
        server,
        tool,
        serverId: server.id,
        serverName: server.settings.normalizedName,
        toolName: tool.name,
      })),
    ),
  );
}

/** Finds a tool of the caller by its public name. A preferred name of several tools belongs to none of them. */
export function findPublicTool(name: string, visible: readonly VisibleTools[]): PublicTool | undefined {
  let found: PublicTool | undefined;
  let isAmbiguous = false;
  for (const { server, list } of visible) {
    const tool = list.findPublic(name);
    if (!tool) continue;
    isAmbiguous ||= found !== undefined;
    found = { server, tool };
  }
  if (found && !isAmbiguous) return found;
  // The name may have been assigned because of a clash.
  return assignPublicNames(visible).get(name);
}

export type ServerAvailability = 'connected' | 'unreachable' | 'needs_authorization' | 'needs_configuration';

/** Why a server has no tools for the caller. */
export interface Absence {
  readonly state: Exclude<ServerAvailability, 'connected'>;
  readonly code: ErrorCode;
}

export interface LoadFailure {
  readonly absence: Absence;
  readonly cause: unknown;
}

interface EachServerOptions<S extends ServerSnapshot> {
  readonly clock: Clock;
  /** Time limit per server. The result then omits the server. */
  readonly deadlineMs?: number;
  readonly signal: AbortSignal;
  /** Classifies errors that this folder does not know. */
  readonly explain?: (error: unknown, server: S) => Absence | undefined;
}

const DEADLINE_MS = 5_000;

/** Loads from all servers at the same time. A server that fails or hangs does not affect the others. */
export async function loadFromEachServer<S extends ServerSnapshot, T extends object>(
  servers: readonly S[],
  loadOne: (server: S, signal: AbortSignal) => Promise<T>,
  { clock, deadlineMs = DEADLINE_MS, signal, explain }: EachServerOptions<S>,
): Promise<[S, T | LoadFailure][]> {
  const results = await Promise.all(
    servers.map(async (server): Promise<[S, T | LoadFailure]> => {
      const timeout = new AbortController();
      try {
        // The async wrapper turns a synchronous throw into a rejection of this server only.
        const loading = (async () => loadOne(server, AbortSignal.any([signal, timeout.signal])))();
        return [server, await withTimeout(clock, deadlineMs, loading, () => abortOnTimeout(timeout))];
      } catch (cause) {
        return [server, { absence: explain?.(cause, server) ?? toAbsence(cause), cause }];
      }
    }),
  );
  signal.throwIfAborted();
  return results;
}

function abortOnTimeout(timeout: AbortController): never {
  const error = new UpstreamError('connect_timeout');
  timeout.abort(error);
  throw error;
}

function toAbsence(error: unknown): Absence {
  const code =
    error instanceof UpstreamError || error instanceof GatewayError ? error.code : 'MCP_UNREACHABLE';
  return { state: availabilityOf(code), code };
}

function availabilityOf(code: ErrorCode): Absence['state'] {
  switch (code) {
    case 'MCP_USER_VARS_MISSING':
      return 'needs_configuration';
    case 'MCP_AUTHORIZATION_REQUIRED':
    case 'MCP_AUTHORIZATION_UNAVAILABLE':
    case 'MCP_CREDENTIAL_REJECTED':
    case 'OPENID_REAUTH_REQUIRED':
    case 'OBO_SUBJECT_TOKEN_MISSING':
    case 'OBO_SUBJECT_TOKEN_EXPIRED':
    case 'OBO_REJECTED':
    case 'OBO_CONSENT_REQUIRED':
      return 'needs_authorization';
    default:
      return 'unreachable';
  }
}
