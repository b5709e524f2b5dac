import type { ConversationSummary, ConversationsView } from '@behalf/contracts';
import type { InfiniteData } from '@tanstack/react-query';

type Pages = InfiniteData<ConversationsView>;

/** The list as it is known here, with a conversation that has just been talked in at its top. */
export function withNewest(pages: Pages | undefined, summary: ConversationSummary): Pages | undefined {
  const rest = withoutConversation(pages, summary.id);
  const [first, ...others] = rest?.pages ?? [];
  if (!rest || !first) return pages;
  return { ...rest, pages: [{ ...first, conversations: [summary, ...first.conversations] }, ...others] };
}

export function withoutConversation(pages: Pages | undefined, id: string): Pages | undefined {
  return changed(pages, (conversations) => conversations.filter((one) => one.id !== id));
}

/** In its place: who renames a conversation has not talked in it. */
export function withRenamed(pages: Pages | undefined, { id, title }: ConversationSummary): Pages | undefined {
  return changed(pages, (conversations) =>
    conversations.map((one) => (one.id === id ? { ...one, title } : one)),
  );
}

/** All of them, each once: a page that was read later may begin with what was the end of the one before. */
export function listed(pages: Pages | undefined): readonly ConversationSummary[] {
  const seen = new Map<string, ConversationSummary>();
  for (const { conversations } of pages?.pages ?? [])
    for (const one of conversations) if (!seen.has(one.id)) seen.set(one.id, one);
  return [...seen.values()];
}

function changed(
  pages: Pages | undefined,
  change: (conversations: ConversationSummary[]) => ConversationSummary[],
): Pages | undefined {
  return (
    pages && {
      ...pages,
      pages: pages.pages.map((page) => ({ ...page, conversations: change(page.conversations) })),
    }
  );
}
