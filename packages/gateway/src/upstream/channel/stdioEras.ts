import type { Clock } from '@behalf/kernel';
import type { StdioTarget } from '../target.ts';
import type { Era } from '../upstream.ts';

/** A legacy verdict works silently for ever: it is asked anew after a day, in case the server was updated. */
const VERDICT_MS = 24 * 60 * 60 * 1_000;
const MOST_VERDICTS = 256;

export interface StdioEras {
  known(target: StdioTarget): Era | undefined;
  keep(target: StdioTarget, era: Era): void;
}

/** Which era a command speaks, so that it is probed once a day and not at every start. */
export function createStdioEras(clock: Clock): StdioEras {
  const verdicts = new Map<string, { readonly era: Era; readonly until: number }>();
  return {
    known(target) {
      const verdict = verdicts.get(commandLine(target));
      return verdict && verdict.until > clock.now() ? verdict.era : undefined;
    },
    keep(target, era) {
      const key = commandLine(target);
      verdicts.delete(key);
      verdicts.set(key, { era, until: clock.now() + VERDICT_MS });
      // Arguments may hold a user's values: what users make up must not grow without end.
      for (const oldest of verdicts.keys()) {
        if (verdicts.size <= MOST_VERDICTS) break;
        verdicts.delete(oldest);
      }
    },
  };
}

/** The environment is left out: it holds credentials, and hardly ever decides which revision is spoken. */
export function commandLine({ command, args, cwd }: StdioTarget): string {
  return JSON.stringify([command, args, cwd ?? null]);
}
