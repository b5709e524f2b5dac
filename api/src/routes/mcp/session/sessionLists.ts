import type { ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { SharedLists } from '../relay/sharedLists.ts';
import { invalidParams } from '../rpc.ts';
import type { McpSession } from './sessions.ts';

/**
 * The state of legacy sessions that changes: resource subscriptions and open URL elicitations. Any replica may change it; the
 * replica that holds the stream of the session reads it after a change notification. It expires with the session.
 */
interface SessionListParts {
  readonly lists: SharedLists;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}

function createSessionList({ lists, changes, clock }: SessionListParts, prefix: string) {
  const listKey = ({ key }: McpSession) => `${prefix}:${key}`;
  return {
    read: (session: McpSession) => lists.read(listKey(session)),
    change: (session: McpSession, update: (list: readonly string[]) => readonly string[]) =>
      lists.change(listKey(session), Math.max(1, session.expiresAt - clock.now()), update),
    publish: ({ key }: McpSession) => changes.publish({ topic: 'mcpSessions', id: key }),
  };
}

export const MAX_SUBSCRIPTIONS = 100;
/** Clients choose the URIs, and all users share the store. */
export const MAX_URI_LENGTH = 4_096;
export const MAX_TOTAL_URI_LENGTH = 64 * 1024;

export type SessionSubscriptions = ReturnType<typeof createSessionSubscriptions>;

/** The resources that sessions subscribed to (`resources/subscribe`). */
export function createSessionSubscriptions(parts: SessionListParts) {
  const { read, change, publish } = createSessionList(parts, 'resources');
  return {
    read,
    async add(session: McpSession, uri: string): Promise<void> {
      if (uri.length > MAX_URI_LENGTH)
        throw invalidParams(`A resource URI has at most ${MAX_URI_LENGTH} characters`);
      const isChanged = await change(session, (uris) => {
        if (uris.includes(uri)) return uris;
        if (uris.length >= MAX_SUBSCRIPTIONS)
          throw invalidParams(`A session has at most ${MAX_SUBSCRIPTIONS} subscriptions`);
        if (uris.reduce((sum, { length }) => sum + length, uri.length) > MAX_TOTAL_URI_LENGTH)
          throw invalidParams('The subscriptions of this session exceed the total length limit');
        return [...uris, uri];
      });
      if (isChanged) await publish(session);
    },
    async remove(session: McpSession, uri: string): Promise<void> {
      const isChanged = await change(session, (uris) =>
        uris.includes(uri) ? uris.filter((entry) => entry !== uri) : uris,
      );
      if (isChanged) await publish(session);
    },
  };
}

/** A page that the user of a session was asked to open (URL elicitation) to connect a server. */
interface Elicitation {
  readonly id: string;
  readonly server: string;
}

/** The oldest elicitations are dropped first. */
export const MAX_ELICITATIONS = 16;

export type Elicitations = ReturnType<typeof createElicitations>;

/** The elicitations of sessions that are not complete. */
export function createElicitations(parts: SessionListParts) {
  const { read, change, publish } = createSessionList(parts, 'elicitations');
  const serialize = ({ id, server }: Elicitation) => JSON.stringify([id, server]);
  return {
    async read(session: McpSession): Promise<readonly Elicitation[]> {
      return (await read(session)).map((entry) => {
        const [id, server] = JSON.parse(entry) as [string, string];
        return { id, server };
      });
    },
    async add(session: McpSession, elicitation: Elicitation): Promise<void> {
      const entry = serialize(elicitation);
      const isChanged = await change(session, (entries) =>
        entries.includes(entry) ? entries : [...entries.slice(1 - MAX_ELICITATIONS), entry],
      );
      if (isChanged) await publish(session);
    },
    /** Returns false if another replica removed it first. */
    remove(session: McpSession, elicitation: Elicitation): Promise<boolean> {
      const entry = serialize(elicitation);
      return change(session, (entries) =>
        entries.includes(entry) ? entries.filter((other) => other !== entry) : entries,
      );
    },
  };
}
