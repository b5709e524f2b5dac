import type { PolicyServer } from './toolPatterns.ts';
import type { PolicyTool, ToolDecision } from './toolPolicy.ts';

/** Beyond this all are forgotten: names of servers and tools come from whoever runs the servers. */
const MAX_DECISIONS = 20_000;

/**
 * What was decided, by names and by all else that decides. Maps in maps, because a key put together would be made anew
 * with every call.
 */
export interface DecisionCache {
  get(role: string, server: PolicyServer, tool: PolicyTool): ToolDecision | undefined;
  set(role: string, server: PolicyServer, tool: PolicyTool, decision: ToolDecision): void;
  readonly size: number;
}

type ByRole = Map<string, Map<string, Map<string, ToolDecision>>>;

/** For tools that only read, and for all others. */
interface DecisionMaps {
  readonly readOnlyTools: ByRole;
  readonly otherTools: ByRole;
}

export function createDecisionCache(maxDecisions = MAX_DECISIONS): DecisionCache {
  const operators: DecisionMaps = { readOnlyTools: new Map(), otherTools: new Map() };
  // Servers of two tenants may have one name, and not one author.
  const users: DecisionMaps = { readOnlyTools: new Map(), otherTools: new Map() };
  let size = 0;
  const mapFor = ({ source }: PolicyServer, { readOnly }: PolicyTool) => {
    const maps = source === 'user' ? users : operators;
    return readOnly ? maps.readOnlyTools : maps.otherTools;
  };
  return {
    get: (role, server, tool) => mapFor(server, tool).get(role)?.get(server.name)?.get(tool.name),
    set(role, server, tool, decision) {
      if (size >= maxDecisions) {
        for (const { readOnlyTools, otherTools } of [operators, users]) {
          readOnlyTools.clear();
          otherTools.clear();
        }
        size = 0;
      }
      getOrCreateMap(getOrCreateMap(mapFor(server, tool), role), server.name).set(tool.name, decision);
      size += 1;
    },
    get size() {
      return size;
    },
  };
}

function getOrCreateMap<V>(outer: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const known = outer.get(key);
  if (known) return known;
  const created = new Map<string, V>();
  outer.set(key, created);
  return created;
}
