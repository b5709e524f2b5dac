import type { CredentialRecord } from '../../ports/index.ts';
import { createRecent } from '../recent.ts';
import type { VaultTools } from './vaultParts.ts';
import type { TokenOutcome } from './vault.ts';

type Pair = Pick<CredentialRecord, 'id' | 'generation' | 'tokenSeq'>;

/** What asking an authorization server again would only repeat: of one pair of tokens, in this process. */
export interface Setbacks {
  standing(pair: Pair): TokenOutcome | undefined;
  /** It is away, or asked for a pause: longer with each time in a row. */
  away(pair: Pair, retryAfterMs?: number): TokenOutcome;
  stand(pair: Pair, outcome: TokenOutcome): TokenOutcome;
  clear(id: string): void;
}

/** Of a credential that nobody has stored: what its first token was refused for holds too. */
export function nothingYet(id: string): Pair {
  return { id, generation: 0, tokenSeq: 0 };
}

const MOST_SETBACKS = 10_000;

interface Setback {
  readonly generation: number;
  readonly tokenSeq: number;
  readonly outcome: TokenOutcome;
  readonly until: number;
  /** How often in a row it was away. */
  readonly times: number;
}

export function createSetbacks({
  localClock,
  random,
  timings,
}: Pick<VaultTools, 'localClock' | 'random' | 'timings'>): Setbacks {
  const setbacks = createRecent<Setback>(MOST_SETBACKS);

  function known({ id, generation, tokenSeq }: Pair): Setback | undefined {
    const setback = setbacks.get(id);
    return setback?.generation === generation && setback.tokenSeq === tokenSeq ? setback : undefined;
  }

  function put({ id, generation, tokenSeq }: Pair, outcome: TokenOutcome, ms: number, times: number): void {
    setbacks.set(id, { generation, tokenSeq, outcome, until: localClock.now() + ms, times });
  }

  return {
    standing(pair) {
      const setback = known(pair);
      const left = setback ? setback.until - localClock.now() : 0;
      if (!setback || left <= 0) return undefined;
      const { outcome } = setback;
      return outcome.kind === 'unavailable' ? { ...outcome, retryAfterMs: left } : outcome;
    },
    away(pair, retryAfterMs = 0) {
      const times = (known(pair)?.times ?? 0) + 1;
      const doubled = timings.backoffMs * 2 ** Math.min(times - 1, 16);
      // Half of it by chance: those who failed together do not come back together.
      const backoff = Math.min(doubled, timings.longestBackoffMs) * (0.5 + random.uniform() / 2);
      const ms = Math.max(retryAfterMs, backoff);
      const outcome: TokenOutcome = { kind: 'unavailable', reason: 'authorization_server', retryAfterMs: ms };
      put(pair, outcome, ms, times);
      return outcome;
    },
    stand(pair, outcome) {
      put(pair, outcome, timings.setbackMs, 0);
      return outcome;
    },
    clear: (id) => setbacks.delete(id),
  };
}
