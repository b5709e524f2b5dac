import type { Clock } from '@behalf/kernel';
import { levelRank } from '../logLevels.ts';
import type { Session } from './session.ts';

/** A session that is more verbose than anybody wants stays so for this long: callers come and go. */
const CALM_MS = 60_000;

type SetLevel = (level: string, session: Session) => Promise<void>;

/** `logging/setLevel` of a legacy session, which knows one level for whoever uses it. */
export interface SessionLevel {
  /** Runs the work with the session at least as verbose as `level`; `set` makes it so, for this caller. */
  during<T>(level: string, session: Session, work: () => Promise<T>, set: SetLevel): Promise<T>;
}

/** As verbose as the most verbose request under way; each caller is told only what they want to hear. */
export function createSessionLevel(clock: Clock): SessionLevel {
  const live: string[] = [];
  let current: { readonly session: Session; readonly level: string; readonly at: number } | undefined;

  async function adjust(session: Session, set: SetLevel): Promise<void> {
    const level = live.reduce((a, b) => (levelRank(b) < levelRank(a) ? b : a));
    const known = current?.session === session ? current : undefined;
    if (known?.level === level) return;
    const isVerboseEnough = known !== undefined && levelRank(known.level) < levelRank(level);
    if (isVerboseEnough && clock.now() - known.at < CALM_MS) return;
    current = { session, level, at: clock.now() };
    // A server that does not take it goes on as it was, and is not asked again.
    await set(level, session).catch(() => undefined);
  }

  return {
    async during(level, session, work, set) {
      live.push(level);
      try {
        await adjust(session, set);
        return await work();
      } finally {
        live.splice(live.indexOf(level), 1);
      }
    },
  };
}
