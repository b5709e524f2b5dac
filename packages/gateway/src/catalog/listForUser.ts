import type { ErrorCode } from '@behalf/contracts';
import type { ServerSnapshot } from '../registry/server.ts';
import {
  eachServer,
  type Absence,
  type EachServerOptions,
  type Failure,
  type ServerState,
} from './eachServer.ts';
import type { IncompleteReason } from './listAll.ts';
import { publicNames, type SeenTools } from './publicNames.ts';
import type { CatalogTool, ToolList } from './toolList.ts';

export type { Absence, ServerState };

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

export interface ListForUserOptions extends EachServerOptions {
  /** What the same caller sees of other servers: no name of theirs is given out twice. */
  readonly beside?: readonly SeenTools[];
}

/** The tools of all these servers: one that fails or hangs says so, and neither hides nor delays another. */
export async function listForUser(
  servers: readonly ServerSnapshot[],
  loadOne: (server: ServerSnapshot, signal: AbortSignal) => Promise<ToolList>,
  { beside = [], ...options }: ListForUserOptions,
): Promise<ServerTools[]> {
  const lists = await eachServer(servers, loadOne, options);
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
