import type { ToolsView } from '@behalf/contracts';

export type ListedServer = ToolsView['servers'][string];
export type ListedTool = ListedServer['tools'][number];

/** A server with its matching tools. */
export interface ToolGroup {
  readonly server: ListedServer;
  readonly tools: readonly ListedTool[];
}

/**
 * The tools whose name or description contains every word of the search. If the server itself matches, all its
 * tools.
 */
export function filterTools(servers: ToolsView['servers'], search: string): readonly ToolGroup[] {
  const terms = search.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = Object.values(servers).map((server) => ({ server, tools: server.tools }));
  if (terms.length === 0) return groups;
  return groups.flatMap(({ server, tools }) => {
    const matches = tools.filter(({ name, title = '', description }) => {
      const text = `${server.name} ${server.title} ${name} ${title} ${description}`.toLowerCase();
      return terms.every((word) => text.includes(word));
    });
    // A server without tools is listed if it matches, because it may need a sign-in.
    const matchesServer = terms.every((word) =>
      `${server.name} ${server.title}`.toLowerCase().includes(word),
    );
    return matches.length > 0 || matchesServer ? [{ server, tools: matches }] : [];
  });
}

export function countTools(groups: readonly ToolGroup[]): number {
  return groups.reduce((sum, { tools }) => sum + tools.length, 0);
}

/** Distributes the number of rendered tools over the groups, first groups first. */
export function distributeShown(groups: readonly ToolGroup[], shown: number): readonly number[] {
  let remaining = shown;
  return groups.map(({ tools }) => {
    const share = Math.min(tools.length, remaining);
    remaining -= share;
    return share;
  });
}
