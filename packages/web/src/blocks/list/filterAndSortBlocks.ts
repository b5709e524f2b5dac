import type { BlockSummary } from '@behalf/contracts';

/** Those in which every word of the search stands, by title. One order for everybody, whatever was changed last. */
export function filterAndSortBlocks(
  blocks: readonly BlockSummary[],
  search: string,
  getServerTitle: (server: string) => string = (server) => server,
): BlockSummary[] {
  const searchWords = search.toLowerCase().split(/\s+/).filter(Boolean);
  return blocks
    .filter(({ title, description = '', server, tool }) => {
      const text =
        `${title} ${description} ${server.name} ${getServerTitle(server.name)} ${tool}`.toLowerCase();
      return searchWords.every((word) => text.includes(word));
    })
    .sort((a, b) => a.title.localeCompare(b.title) || (a.id < b.id ? -1 : 1));
}
