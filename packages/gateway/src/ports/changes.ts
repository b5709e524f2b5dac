/** What may change under another process's feet. */
export const changeTopics = ['users', 'sessions', 'settings'] as const;
export type ChangeTopic = (typeof changeTopics)[number];

export interface ChangeNotice {
  topic: ChangeTopic;
  /** The record that changed, or `*` when only the topic is known. */
  id: string;
}

/**
 * Tells all processes, this one included, that something changed. A notice says "read again", never what the new value
 * is. It may be late, doubled or widened to `*`, so every cache it ends has a time bound of its own.
 */
export interface ChangeFeed {
  publish(notice: ChangeNotice): Promise<void>;
  subscribe(listener: (notice: ChangeNotice) => void): () => void;
}
