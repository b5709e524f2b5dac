import type { BlockSummary } from '@behalf/contracts';

/** Those in which every word of the search stands, by title. One order for everybody, whatever was changed last. */
export function filterBlocks(
  blocks: readonly BlockSummary[],
  search: string,
  serverTitle: (server: string) => string = (server) => server,
): BlockSummary[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return blocks
    .filter(({ title, description = '', server, tool }) => {
      const text = `${title} ${description} ${server.name} ${serverTitle(server.name)} ${tool}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => a.title.localeCompare(b.title) || (a.id < b.id ? -1 : 1));
}
