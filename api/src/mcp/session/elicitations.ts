import type { ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { McpSession } from './sessions.ts';
import type { SharedLists } from './sharedLists.ts';

/** A page that a session's user was asked to open, to connect a server. */
export interface Elicitation {
  readonly id: string;
  readonly server: string;
}

/** Those of a session that are not done: asked at one replica, told as done at the one that holds its stream. */
export interface Elicitations {
  add(session: McpSession, elicitation: Elicitation): Promise<void>;
  read(session: McpSession): Promise<readonly Elicitation[]>;
  /** False when somebody else took it away. */
  remove(session: McpSession, elicitation: Elicitation): Promise<boolean>;
}

/** Of those that nobody ever opens the oldest are forgotten. */
export const MAX_ELICITATIONS = 16;

export function createElicitations({
  lists,
  changes,
  clock,
}: {
  readonly lists: SharedLists;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}): Elicitations {
  const listKey = ({ key }: McpSession) => `pages:${key}`;
  const serialize = ({ id, server }: Elicitation) => JSON.stringify([id, server]);

  function change(session: McpSession, work: (list: readonly string[]) => readonly string[]) {
    return lists.change(listKey(session), Math.max(1, session.expiresAt - clock.now()), work);
  }

  return {
    async add(session, elicitation) {
      const entry = serialize(elicitation);
      const isNew = await change(session, (entries) =>
        entries.includes(entry) ? entries : [...entries.slice(1 - MAX_ELICITATIONS), entry],
      );
      if (isNew) await changes.publish({ topic: 'mcpSessions', id: session.key });
    },
    async read(session) {
      const entries = await lists.read(listKey(session));
      return entries.map((entry) => {
        const [id, server] = JSON.parse(entry) as [string, string];
        return { id, server };
      });
    },
    remove(session, elicitation) {
      const entry = serialize(elicitation);
      return change(session, (entries) =>
        entries.includes(entry) ? entries.filter((other) => other !== entry) : entries,
      );
    },
  };
}
