import type { JudgedServer } from './toolPatterns.ts';
import type { JudgedTool, ToolVerdict } from './toolPolicy.ts';

/** Beyond this all are forgotten: names of servers and tools come from whoever runs the servers. */
const MOST_VERDICTS = 20_000;

/**
 * What was decided, by names and by all else that decides. Maps in maps, because a key put together would be made anew
 * with every call.
 */
export interface Verdicts {
  get(role: string, server: JudgedServer, tool: JudgedTool): ToolVerdict | undefined;
  set(role: string, server: JudgedServer, tool: JudgedTool, verdict: ToolVerdict): void;
  readonly size: number;
}

type ByRole = Map<string, Map<string, Map<string, ToolVerdict>>>;

/** For tools that only read, and for all others. */
interface Sides {
  readonly readers: ByRole;
  readonly others: ByRole;
}

export function createVerdicts(most = MOST_VERDICTS): Verdicts {
  const operators: Sides = { readers: new Map(), others: new Map() };
  // Servers of two tenants may have one name, and not one author.
  const users: Sides = { readers: new Map(), others: new Map() };
  let size = 0;
  const sideOf = ({ source }: JudgedServer, { readOnly }: JudgedTool) => {
    const sides = source === 'user' ? users : operators;
    return readOnly ? sides.readers : sides.others;
  };
  return {
    get: (role, server, tool) => sideOf(server, tool).get(role)?.get(server.name)?.get(tool.name),
    set(role, server, tool, verdict) {
      if (size >= most) {
        for (const { readers, others } of [operators, users]) {
          readers.clear();
          others.clear();
        }
        size = 0;
      }
      inner(inner(sideOf(server, tool), role), server.name).set(tool.name, verdict);
      size += 1;
    },
    get size() {
      return size;
    },
  };
}

function inner<V>(outer: Map<string, Map<string, V>>, key: string): Map<string, V> {
  const known = outer.get(key);
  if (known) return known;
  const made = new Map<string, V>();
  outer.set(key, made);
  return made;
}
