import type { ConversationSummary, ConversationsView } from '@behalf/contracts';
import type { InfiniteData } from '@tanstack/react-query';

type ConversationPages = InfiniteData<ConversationsView>;

/** Returns the cached list with this conversation at the top. */
export function addToPages(
  pages: ConversationPages | undefined,
  summary: ConversationSummary,
): ConversationPages | undefined {
  const rest = removeFromPages(pages, summary.id);
  const [first, ...others] = rest?.pages ?? [];
  if (!rest || !first) return pages;
  return { ...rest, pages: [{ ...first, conversations: [summary, ...first.conversations] }, ...others] };
}

export function removeFromPages(
  pages: ConversationPages | undefined,
  id: string,
): ConversationPages | undefined {
  return mapPages(pages, (conversations) => conversations.filter((conversation) => conversation.id !== id));
}

/** Renames a conversation without moving it to the top. */
export function renameInPages(
  pages: ConversationPages | undefined,
  { id, title }: ConversationSummary,
): ConversationPages | undefined {
  return mapPages(pages, (conversations) =>
    conversations.map((conversation) => (conversation.id === id ? { ...conversation, title } : conversation)),
  );
}

/** Returns all conversations without duplicates. Entries can move between pages while they load. */
export function flattenPages(pages: ConversationPages | undefined): readonly ConversationSummary[] {
  const seen = new Map<string, ConversationSummary>();
  for (const { conversations } of pages?.pages ?? [])
    for (const conversation of conversations)
      if (!seen.has(conversation.id)) seen.set(conversation.id, conversation);
  return [...seen.values()];
}

function mapPages(
  pages: ConversationPages | undefined,
  mapConversations: (conversations: ConversationSummary[]) => ConversationSummary[],
): ConversationPages | undefined {
  return (
    pages && {
      ...pages,
      pages: pages.pages.map((page) => ({ ...page, conversations: mapConversations(page.conversations) })),
    }
  );
}

const dayGroups = ['today', 'yesterday', 'week', 'month', 'older'] as const;
type DayGroup = (typeof dayGroups)[number];

/** Returns the day group of a time in the user's time zone. */
export function dayGroup(timestamp: number, now: number): DayGroup {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  const daysBack = (days: number) => {
    const day = new Date(midnight);
    // Calendar days, because a day can have 23 or 25 hours.
    day.setDate(day.getDate() - days);
    return day.getTime();
  };
  if (timestamp >= midnight.getTime()) return 'today';
  if (timestamp >= daysBack(1)) return 'yesterday';
  if (timestamp >= daysBack(7)) return 'week';
  return timestamp >= daysBack(30) ? 'month' : 'older';
}

/** Groups entries by day in their order. Omits empty groups. */
export function groupByDay<T extends { readonly updatedAt: number }>(
  entries: readonly T[],
  now: number,
): readonly { readonly group: DayGroup; readonly entries: readonly T[] }[] {
  return dayGroups
    .map((group) => ({
      group,
      entries: entries.filter(({ updatedAt }) => dayGroup(updatedAt, now) === group),
    }))
    .filter((day) => day.entries.length > 0);
}
