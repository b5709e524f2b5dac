import type { ErrorCode } from '@behalf/contracts';
import { type Clock, withTimeout } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { IncompleteReason } from '../upstream/listAll.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { type NamedIdentity, assignToolNames } from './names.ts';
import type { CatalogTool, ToolList } from './toolList.ts';

/** What a caller has of one server, or why there is nothing. */
export interface ServerTools {
  readonly server: ServerSnapshot;
  readonly state: ServerAvailability;
  readonly tools: readonly CatalogTool[];
  readonly incomplete: IncompleteReason | undefined;
  readonly code: ErrorCode | undefined;
  /** For the log alone. */
  readonly cause: unknown;
}

interface ListForUserOptions extends EachServerOptions {
  /** What the same caller sees of other servers: no name of theirs is given out twice. */
  readonly otherTools?: readonly VisibleTools[];
}

/** The tools of all these servers: one that fails or hangs says so, and neither hides nor delays another. */
export async function listForUser(
  servers: readonly ServerSnapshot[],
  loadOne: (server: ServerSnapshot, signal: AbortSignal) => Promise<ToolList>,
  { otherTools = [], ...options }: ListForUserOptions,
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

/** Tools whose preferred name another server has as well get another one: the same that a call is routed by. */
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

/** What one caller sees of one server. */
export interface VisibleTools {
  readonly server: ServerSnapshot;
  readonly list: ToolList;
}

interface PublicTool {
  readonly server: ServerSnapshot;
  readonly tool: CatalogTool;
}

interface NamedTool extends NamedIdentity, PublicTool {}

/** The names of all tools that a caller sees, no two alike. */
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

/**
 * The tool that a caller means by a name: looked up among what this caller sees, never taken apart. A name that two
 * servers would have belongs to neither.
 */
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
  // Nobody's preferred name: it may be what was given out in a clash.
  return assignPublicNames(visible).get(name);
}

export type ServerAvailability = 'connected' | 'unreachable' | 'needs_authorization' | 'needs_configuration';

/** Why a server has nothing for this caller. */
export interface Absence {
  readonly state: Exclude<ServerAvailability, 'connected'>;
  readonly code: ErrorCode;
}

export interface LoadFailure {
  readonly absence: Absence;
  readonly cause: unknown;
}

interface EachServerOptions {
  readonly clock: Clock;
  /** How long one server may take before the others go out without it. */
  readonly deadlineMs?: number;
  readonly signal: AbortSignal;
  /** What errors of other folders mean; undefined leaves them to us. */
  readonly explain?: (error: unknown, server: ServerSnapshot) => Absence | undefined;
}

const DEADLINE_MS = 5_000;

/** Asks all of them at once: one that fails or hangs says so, and neither hides nor delays another. */
export async function loadFromEachServer<S extends ServerSnapshot, T extends object>(
  servers: readonly S[],
  loadOne: (server: S, signal: AbortSignal) => Promise<T>,
  { clock, deadlineMs = DEADLINE_MS, signal, explain }: EachServerOptions,
): Promise<[S, T | LoadFailure][]> {
  const results = await Promise.all(
    servers.map(async (server): Promise<[S, T | LoadFailure]> => {
      const timeout = new AbortController();
      try {
        // A loader that throws before it promises anything must not take the others with it.
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
