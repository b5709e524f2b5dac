import type { ServerSnapshot } from '../registry/server.ts';
import { assignToolNames, type NamedIdentity } from './toolNames.ts';
import type { CatalogTool, ToolList } from './toolList.ts';

/** What one caller sees of one server. */
export interface VisibleTools {
  readonly server: ServerSnapshot;
  readonly list: ToolList;
}

export interface PublicTool {
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
