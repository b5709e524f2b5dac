import type { Clock } from '@behalf/kernel';
import { getLevelRank } from '../logLevels.ts';
import type { LegacySession } from './session.ts';

/** A session that is more verbose than anybody wants stays so for this long: callers come and go. */
const LOWER_DELAY_MS = 60_000;

type SetLevel = (level: string, session: LegacySession) => Promise<void>;

/** `logging/setLevel` of a legacy session, which knows one level for whoever uses it. */
export interface SessionLogLevel {
  /** Runs the work with the session at least as verbose as `level`; `set` makes it so, for this caller. */
  withLevel<T>(level: string, session: LegacySession, work: () => Promise<T>, setLevel: SetLevel): Promise<T>;
}

/** As verbose as the most verbose request under way; each caller is told only what they want to hear. */
export function createSessionLogLevel(clock: Clock): SessionLogLevel {
  const activeLevels: string[] = [];
  let current: { readonly session: LegacySession; readonly level: string; readonly at: number } | undefined;

  async function adjust(session: LegacySession, setLevel: SetLevel): Promise<void> {
    const level = activeLevels.reduce((a, b) => (getLevelRank(b) < getLevelRank(a) ? b : a));
    const known = current?.session === session ? current : undefined;
    if (known?.level === level) return;
    const isVerboseEnough = known !== undefined && getLevelRank(known.level) < getLevelRank(level);
    if (isVerboseEnough && clock.now() - known.at < LOWER_DELAY_MS) return;
    current = { session, level, at: clock.now() };
    // A server that does not take it goes on as it was, and is not asked again.
    await setLevel(level, session).catch(() => undefined);
  }

  return {
    async withLevel(level, session, work, setLevel) {
      activeLevels.push(level);
      try {
        await adjust(session, setLevel);
        return await work();
      } finally {
        activeLevels.splice(activeLevels.indexOf(level), 1);
      }
    },
  };
}
