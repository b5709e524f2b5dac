import type { ErrorCode } from '@behalf/contracts';
import { within, type Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { IncompleteReason } from './listAll.ts';
import { publicNames, type SeenTools } from './publicNames.ts';
import type { CatalogTool, ToolList } from './toolList.ts';

export type ServerState = 'connected' | 'unreachable' | 'needs_authorization' | 'needs_configuration';

/** What a caller has of one server, or why there is nothing. */
export interface ServerTools {
  readonly server: ServerSnapshot;
  readonly state: ServerState;
  readonly tools: readonly CatalogTool[];
  readonly incomplete: IncompleteReason | undefined;
  readonly code: ErrorCode | undefined;
  /** For the log alone. */
  readonly cause: unknown;
}

/** Why a server has no tools for this caller. */
export interface Absence {
  readonly state: Exclude<ServerState, 'connected'>;
  readonly code: ErrorCode;
}

export interface ListForUserOptions {
  readonly clock: Clock;
  /** How long one server may take before the list goes out without it. */
  readonly deadlineMs?: number;
  readonly signal: AbortSignal;
  /** What errors of other folders mean; undefined leaves them to us. */
  readonly explain?: (error: unknown, server: ServerSnapshot) => Absence | undefined;
  /** What the same caller sees of other servers: no name of theirs is given out twice. */
  readonly beside?: readonly SeenTools[];
}

const DEADLINE_MS = 5_000;

/** The tools of all these servers: one that fails or hangs says so, and neither hides nor delays another. */
export async function listForUser(
  servers: readonly ServerSnapshot[],
  loadOne: (server: ServerSnapshot, signal: AbortSignal) => Promise<ToolList>,
  { clock, deadlineMs = DEADLINE_MS, signal, explain, beside = [] }: ListForUserOptions,
): Promise<ServerTools[]> {
  const lists = await Promise.all(
    servers.map(async (server): Promise<[ServerSnapshot, ToolList | Failure]> => {
      const late = new AbortController();
      try {
        // A loader that throws before it promises anything must not take the others with it.
        const loading = (async () => loadOne(server, AbortSignal.any([signal, late.signal])))();
        return [server, await within(clock, deadlineMs, loading, () => timedOut(late))];
      } catch (cause) {
        return [server, { absence: explain?.(cause, server) ?? meaningOf(cause), cause }];
      }
    }),
  );
  signal.throwIfAborted();
  const renamed = namesOf(lists, beside);
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

interface Failure {
  readonly absence: Absence;
  readonly cause: unknown;
}

function timedOut(late: AbortController): never {
  const error = new UpstreamError('connect_timeout');
  late.abort(error);
  throw error;
}

/** Tools whose preferred name another server has as well get another one: the same that a call is routed by. */
function namesOf(
  lists: readonly (readonly [ServerSnapshot, ToolList | Failure])[],
  beside: readonly SeenTools[],
) {
  const renamed = new Map<CatalogTool, CatalogTool>();
  const seen = lists.flatMap(([server, list]) => ('absence' in list ? [] : [{ server, list }]));
  for (const [publicName, { tool }] of publicNames([...seen, ...beside])) {
    if (tool.publicName !== publicName) renamed.set(tool, Object.freeze({ ...tool, publicName }));
  }
  return renamed;
}

function meaningOf(error: unknown): Absence {
  const code =
    error instanceof UpstreamError || error instanceof GatewayError ? error.code : 'MCP_UNREACHABLE';
  return { state: stateOf(code), code };
}

function stateOf(code: ErrorCode): Absence['state'] {
  switch (code) {
    case 'MCP_USER_VARS_MISSING':
      return 'needs_configuration';
    case 'MCP_AUTHORIZATION_REQUIRED':
    case 'MCP_AUTHORIZATION_UNAVAILABLE':
    case 'MCP_CREDENTIAL_REJECTED':
    case 'OPENID_REAUTH_REQUIRED':
    case 'OBO_SUBJECT_TOKEN_MISSING':
    case 'OBO_SUBJECT_TOKEN_EXPIRED':
    case 'OBO_CONSENT_REQUIRED':
      return 'needs_authorization';
    default:
      return 'unreachable';
  }
}
