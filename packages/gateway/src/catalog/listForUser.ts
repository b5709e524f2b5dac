import type { ErrorCode } from '@behalf/contracts';
import type { ServerSnapshot } from '../registry/server.ts';
import {
  loadFromEachServer,
  type Absence,
  type EachServerOptions,
  type LoadFailure,
  type ServerAvailability,
} from './loadFromEachServer.ts';
import type { IncompleteReason } from './listAll.ts';
import { assignPublicNames, type VisibleTools } from './publicNames.ts';
import type { CatalogTool, ToolList } from './toolList.ts';

export type { Absence, ServerAvailability };

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

export interface ListForUserOptions extends EachServerOptions {
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
