import type { Cancel, Clock } from '@behalf/kernel';
import type { ApiKeyStore, ChangeFeed, ChangeTopic, SessionStore, UserStore } from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';
import type { FacadeKeys } from './facade/facadeKeys.ts';

export interface CallerWatchParts {
  readonly users: Pick<UserStore, 'findMany'>;
  readonly sessions: Pick<SessionStore, 'openAmong'>;
  readonly apiKeys: Pick<ApiKeyStore, 'liveAmong'>;
  /** Our own authorization server's; null where there is none. */
  readonly signingKeys: Pick<FacadeKeys, 'liveAmong'> | null;
  readonly changes: Pick<ChangeFeed, 'subscribe'>;
  readonly clock: Clock;
}

/** Callers were looked at when they came in. Whatever lasts longer is told here when that counts no longer. */
export interface CallerWatch {
  /**
   * Calls back once when the key, grant or sign-in of this caller was ended, their account is disabled or has another role,
   * or what signed their token counts no more. What runs out by itself is not told: `until` of the caller says when. Returns how to stop.
   */
  follow(caller: Principal, onOver: () => void): () => void;
  stop(): void;
}

interface Followed {
  readonly caller: Principal;
  readonly onOver: () => void;
}

/** One question to the store about many callers. */
interface Question {
  readonly idOf: (caller: Principal) => string | undefined;
  readonly ask: (ids: readonly string[]) => Promise<(caller: Principal, id: string) => boolean>;
}

const TOPICS = ['apiKeys', 'sessions', 'users', 'signingKeys'] as const satisfies readonly ChangeTopic[];
type Topic = (typeof TOPICS)[number];

const RETRY_MS = 1_000;
/** Stores have a limit on what one question may name. */
const MOST_AT_ONCE = 500;

/** However many are followed, a notice costs as many questions as its topic has; nobody asks by the clock. */
export function createCallerWatch(parts: CallerWatchParts): CallerWatch {
  const { changes, clock } = parts;
  const questions = questionsOf(parts);
  const followed = new Set<Followed>();
  /** Followed since the last question: what was ended while they came in was told to nobody. */
  let fresh = new Set<Followed>();
  let wanted = new Set<Topic>();
  let asking = false;
  let stopped = false;
  let cancel: Cancel = () => undefined;

  async function put({ idOf, ask }: Question, whom: Iterable<Followed>): Promise<void> {
    const byId = new Map<string, Followed[]>();
    for (const one of whom) {
      const id = idOf(one.caller);
      if (id === undefined) continue;
      const same = byId.get(id);
      if (same) same.push(one);
      else byId.set(id, [one]);
    }
    const ids = [...byId.keys()];
    for (let at = 0; at < ids.length; at += MOST_AT_ONCE) {
      const some = ids.slice(at, at + MOST_AT_ONCE);
      const stands = await ask(some);
      for (const id of some)
        for (const one of byId.get(id) ?? []) if (!stopped && !stands(one.caller, id)) end(one);
    }
  }

  function end(one: Followed): void {
    if (!followed.delete(one)) return;
    fresh.delete(one);
    try {
      one.onOver();
    } catch {
      // Its own affair: the others end too.
    }
  }

  /** One round at a time; a notice meanwhile asks for another. */
  async function askAll(): Promise<void> {
    if (asking) return;
    asking = true;
    while ((wanted.size > 0 || fresh.size > 0) && !stopped) {
      const [topics, begun] = [wanted, fresh];
      wanted = new Set();
      fresh = new Set();
      try {
        for (const [topic, question] of questions)
          await put(question, topics.has(topic) ? [...followed] : [...begun]);
      } catch {
        for (const topic of topics) wanted.add(topic);
        for (const one of begun) if (followed.has(one)) fresh.add(one);
        later();
        break;
      }
    }
    asking = false;
  }

  function later(): void {
    cancel();
    if (!stopped) cancel = clock.timer(RETRY_MS, () => void askAll());
  }

  const unsubscribe = changes.subscribe(({ topic: about }) => {
    const topic = TOPICS.find((one) => one === about);
    if (topic === undefined || followed.size === 0) return;
    wanted.add(topic);
    void askAll();
  });

  return {
    follow(caller, onOver) {
      const one = { caller, onOver };
      followed.add(one);
      fresh.add(one);
      void askAll();
      return () => {
        followed.delete(one);
        fresh.delete(one);
      };
    },
    stop() {
      stopped = true;
      cancel();
      unsubscribe();
      followed.clear();
      fresh.clear();
    },
  };
}

function questionsOf({
  users,
  sessions,
  apiKeys,
  signingKeys,
  clock,
}: CallerWatchParts): [Topic, Question][] {
  const among = (found: readonly string[]) => {
    const those = new Set(found);
    return (_caller: Principal, id: string) => those.has(id);
  };
  return [
    [
      'apiKeys',
      {
        idOf: ({ by }) => (by.via === 'api_key' ? by.key : undefined),
        ask: async (ids) => among(await apiKeys.liveAmong(ids, clock.now())),
      },
    ],
    [
      'sessions',
      {
        idOf: ({ by }) =>
          by.via === 'session' ? by.session : by.via === 'bearer' ? by.grant?.session : undefined,
        ask: async (hashes) => among(await sessions.openAmong(hashes, clock.now())),
      },
    ],
    [
      // Of a rotation by the calendar, the key before still counts: nobody is ended for it.
      'signingKeys',
      {
        idOf: ({ by }) => (by.via === 'bearer' ? by.grant?.key : undefined),
        ask: async (kids) => among((await signingKeys?.liveAmong(kids)) ?? []),
      },
    ],
    [
      'users',
      {
        idOf: ({ kind, userId }) => (kind === 'user' ? userId : undefined),
        async ask(ids) {
          const found = new Map((await users.findMany(ids)).map((user) => [user.id, user]));
          return ({ tenant, role }, id) => {
            const user = found.get(id);
            return user?.tenant === tenant && user.disabledAt === null && user.role === role;
          };
        },
      },
    ],
  ];
}
