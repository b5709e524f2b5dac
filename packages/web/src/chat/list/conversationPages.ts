import type { ConversationSummary, ConversationsView } from '@behalf/contracts';
import type { InfiniteData } from '@tanstack/react-query';

type ConversationPages = InfiniteData<ConversationsView>;

/** The list as it is known here, with a conversation that has just been talked in at its top. */
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

/** In its place: who renames a conversation has not talked in it. */
export function renameInPages(
  pages: ConversationPages | undefined,
  { id, title }: ConversationSummary,
): ConversationPages | undefined {
  return mapPages(pages, (conversations) =>
    conversations.map((conversation) => (conversation.id === id ? { ...conversation, title } : conversation)),
  );
}

/** All of them, each once: a page that was read later may begin with what was the end of the one before. */
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
