import { HiddenText, sleep } from '@behalf/kernel';
import { credentialId, type CredentialPatch, type CredentialRecord } from '../../ports/index.ts';
import type { Discards } from './discards.ts';
import type { Notices } from './notices.ts';
import { newHashKey, openTokens, sealTokens } from './openTokens.ts';
import { lifetimeOf, scopeText, settled } from './pair.ts';
import type { Setbacks } from './setbacks.ts';
import type { CommitOutcome, NewGrant } from './vault.ts';
import type { VaultTools } from './vaultParts.ts';

/** Stores a grant that was just given. Rejects when the store does not answer for long. */
export type Commit = (grant: NewGrant) => Promise<CommitOutcome>;

export interface CommitParts extends Pick<
  VaultTools,
  'store' | 'keyring' | 'clock' | 'localClock' | 'random' | 'contexts' | 'timings'
> {
  readonly discards: Discards;
  readonly notices: Notices;
  readonly setbacks: Setbacks;
  readonly onCommitted: (record: CredentialRecord) => void;
}

const FIRST_PAUSE_MS = 50;

export function createCommit(parts: CommitParts): Commit {
  const { store, keyring, clock, localClock, random, contexts, timings } = parts;
  const { discards, notices, setbacks, onCommitted } = parts;

  /** All but what names it, and what counts over all generations. */
  function contentOf(grant: NewGrant) {
    const { binding, tokens, endpoints } = grant;
    // Told by this process's clock, kept by the store's.
    const sentAt = grant.sentAt - localClock.now() + clock.now();
    const { accessToken, tokenType, idToken } = tokens;
    const refreshToken = tokens.refreshToken === undefined ? undefined : new HiddenText(tokens.refreshToken);
    const hashKey = newHashKey(random);
    const bound = { ...binding, generation: grant.baseGeneration + 1, tokenSeq: 1 };
    const dpopKey = tokenType === 'dpop' ? grant.dpopKey : undefined;
    const opened = { accessToken, tokenType, refreshToken, idToken, endpoints, hashKey, dpopKey };
    return {
      ...bound,
      ...sealTokens(keyring, { ...grant, ...bound }, opened),
      ...lifetimeOf(tokens, sentAt),
      status: 'active',
      reason: null,
      statusAt: clock.now(),
      rtSuspect: false,
      scopesRequested: scopeText(grant.scopesRequested),
      // An answer that does not say grants what was asked for (RFC 6749, section 5.1).
      scopesGranted: scopeText(tokens.scope ?? grant.scopesRequested),
      expiresAt: grant.rowExpiresAt ?? null,
      ...settled,
    } as const;
  }

  function recordOf(grant: NewGrant, content: ReturnType<typeof contentOf>): CredentialRecord {
    const { tenant, principal, serverId, kind, label } = grant;
    const key = { tenant, principal, serverId, kind, label };
    const now = clock.now();
    const counters = { isDefault: false, version: 1, claimSeq: 0, createdAt: now, updatedAt: now };
    return { ...key, id: credentialId(key), ...content, ...counters };
  }

  /** Also when an earlier step stored it, whose answer was lost. */
  async function put(
    record: CredentialRecord,
    baseGeneration: number,
    patch: CredentialPatch,
  ): Promise<CommitOutcome> {
    const { id, generation } = record;
    const isPut =
      baseGeneration === 0
        ? await store.insert(record)
        : (await store.replace(id, { generation: baseGeneration }, patch)) !== null;
    if (isPut) return { kind: 'committed', id, generation };
    const found = await store.findById(id);
    const isOurs = found?.generation === generation && found.atHash === record.atHash;
    return isOurs
      ? { kind: 'committed', id, generation }
      : { kind: 'superseded', generation: found?.generation ?? 0 };
  }

  /** What it takes the place of, or what it was itself when another was faster. */
  async function discard(record: CredentialRecord): Promise<void> {
    const tokens = openTokens(keyring, record);
    if (!tokens) return;
    const context = await contexts.of(record);
    if (context === 'unbound') return;
    discards.replaced(record, context, tokens);
  }

  return async (grant) => {
    const content = contentOf(grant);
    const record = recordOf(grant, content);
    const before = grant.baseGeneration === 0 ? null : await store.findById(record.id).catch(() => null);
    const givesUpAt = localClock.now() + timings.postMs;
    let outcome: CommitOutcome;
    for (let pause = FIRST_PAUSE_MS; ; pause *= 2) {
      try {
        outcome = await put(record, grant.baseGeneration, content);
        break;
      } catch (error) {
        // A code is good for one exchange: what it brought is not given up at the first failure.
        if (localClock.now() + pause >= givesUpAt) throw error;
        await sleep(localClock, pause);
      }
    }
    if (outcome.kind === 'superseded') {
      await discard(record).catch(() => undefined);
      return outcome;
    }
    setbacks.clear(record.id);
    onCommitted(record);
    await notices.publish(record.id);
    if (before?.generation === grant.baseGeneration) await discard(before).catch(() => undefined);
    return outcome;
  };
}
