import type { ServerSnapshot } from '../registry/server.ts';
import { toolNames, type NamedIdentity } from './toolNames.ts';
import type { CatalogTool, ToolList } from './toolList.ts';

/** What one caller sees of one server. */
export interface SeenTools {
  readonly server: ServerSnapshot;
  readonly list: ToolList;
}

export interface Routed {
  readonly server: ServerSnapshot;
  readonly tool: CatalogTool;
}

interface Entry extends NamedIdentity, Routed {}

/** The names of all tools that a caller sees, no two alike. */
export function publicNames(seen: readonly SeenTools[]): ReadonlyMap<string, Routed> {
  return toolNames(
    seen.flatMap(({ server, list }) =>
      list.tools.map((tool): Entry => ({
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
export function routePublicName(name: string, seen: readonly SeenTools[]): Routed | undefined {
  let found: Routed | undefined;
  let several = false;
  for (const { server, list } of seen) {
    const tool = list.findPublic(name);
    if (!tool) continue;
    several ||= found !== undefined;
    found = { server, tool };
  }
  if (found && !several) return found;
  // Nobody's preferred name: it may be what was given out in a clash.
  return publicNames(seen).get(name);
}
