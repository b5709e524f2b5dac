import type { ToolsView } from '@behalf/contracts';

export type ListedServer = ToolsView['servers'][string];
export type ListedTool = ListedServer['tools'][number];

/** A server with those of its tools that are shown. */
export interface ToolGroup {
  readonly server: ListedServer;
  readonly tools: readonly ListedTool[];
}

/** The tools in whose names and descriptions every word of the search stands; all of a server that is itself meant. */
export function filterTools(servers: ToolsView['servers'], search: string): readonly ToolGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const all = Object.values(servers).map((server) => ({ server, tools: server.tools }));
  if (words.length === 0) return all;
  return all.flatMap(({ server, tools }) => {
    const found = tools.filter(({ name, title = '', description }) => {
      const text = `${server.name} ${server.title} ${name} ${title} ${description}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    // One without tools is shown where it is looked for: it says what it needs.
    const isMeant = words.every((word) => `${server.name} ${server.title}`.toLowerCase().includes(word));
    return found.length > 0 || isMeant ? [{ server, tools: found }] : [];
  });
}

export function countTools(groups: readonly ToolGroup[]): number {
  return groups.reduce((sum, { tools }) => sum + tools.length, 0);
}

/** How many tools of each group are shown, when so many of all are: the first ones first. */
export function shareOut(groups: readonly ToolGroup[], shown: number): readonly number[] {
  let rest = shown;
  return groups.map(({ tools }) => {
    const share = Math.min(tools.length, rest);
    rest -= share;
    return share;
  });
}
