import type { CredentialRecord } from '../../ports/index.ts';
import { createLruMap } from '../lruMap.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';
import type { TokenOutcome } from './vault.ts';

type TokenVersion = Pick<CredentialRecord, 'id' | 'generation' | 'tokenSeq'>;

/** What asking an authorization server again would only repeat: of one pair of tokens, in this process. */
export interface RefreshBackoff {
  current(version: TokenVersion): TokenOutcome | undefined;
  /** It is away, or asked for a pause: longer with each time in a row. */
  recordUnavailable(version: TokenVersion, retryAfterMs?: number): TokenOutcome;
  recordOutcome(version: TokenVersion, outcome: TokenOutcome): TokenOutcome;
  clear(id: string): void;
}

/** Of a credential that nobody has stored: what its first token was refused for holds too. */
export function initialVersion(id: string): TokenVersion {
  return { id, generation: 0, tokenSeq: 0 };
}

const MAX_ENTRIES = 10_000;

interface BackoffEntry {
  readonly generation: number;
  readonly tokenSeq: number;
  readonly outcome: TokenOutcome;
  readonly until: number;
  /** How often in a row it was away. */
  readonly failures: number;
}

export function createRefreshBackoff({
  localClock,
  random,
  timings,
}: Pick<ResolvedVaultParts, 'localClock' | 'random' | 'timings'>): RefreshBackoff {
  const entries = createLruMap<BackoffEntry>(MAX_ENTRIES);

  function findEntry({ id, generation, tokenSeq }: TokenVersion): BackoffEntry | undefined {
    const entry = entries.get(id);
    return entry?.generation === generation && entry.tokenSeq === tokenSeq ? entry : undefined;
  }

  function storeEntry(
    { id, generation, tokenSeq }: TokenVersion,
    outcome: TokenOutcome,
    durationMs: number,
    failures: number,
  ): void {
    entries.set(id, { generation, tokenSeq, outcome, until: localClock.now() + durationMs, failures });
  }

  return {
    current(version) {
      const entry = findEntry(version);
      const remainingMs = entry ? entry.until - localClock.now() : 0;
      if (!entry || remainingMs <= 0) return undefined;
      const { outcome } = entry;
      return outcome.kind === 'unavailable' ? { ...outcome, retryAfterMs: remainingMs } : outcome;
    },
    recordUnavailable(version, retryAfterMs = 0) {
      const failures = (findEntry(version)?.failures ?? 0) + 1;
      const doubled = timings.backoffMs * 2 ** Math.min(failures - 1, 16);
      // Half of it by chance: those who failed together do not come back together.
      const backoff = Math.min(doubled, timings.maxBackoffMs) * (0.5 + random.uniform() / 2);
      const durationMs = Math.max(retryAfterMs, backoff);
      const outcome: TokenOutcome = {
        kind: 'unavailable',
        reason: 'authorization_server',
        retryAfterMs: durationMs,
      };
      storeEntry(version, outcome, durationMs, failures);
      return outcome;
    },
    recordOutcome(version, outcome) {
      storeEntry(version, outcome, timings.failureCacheMs, 0);
      return outcome;
    },
    clear: (id) => entries.delete(id),
  };
}
