import { sleep } from '@behalf/kernel';
import type { CredentialRecord } from '../../ports/index.ts';
import type { GrantContext } from '../oauth/grantContext.ts';
import type { Discards } from './discards.ts';
import type { Notices } from './notices.ts';
import type { OpenTokens } from './openTokens.ts';
import type { OrphanPairs } from './orphanPairs.ts';
import { nextPair, nextTokens, type Received } from './pair.ts';
import { savePair, type Saved } from './savePair.ts';
import type { VaultTools } from './vaultParts.ts';

/** `aside`: nobody could store it yet. It is good all the same: refusing it would bring the old one back to life for nobody. */
export type Kept =
  Saved | { readonly kind: 'aside'; readonly record: CredentialRecord; readonly tokens: OpenTokens };

/** A pair that came, and the one whose refresh token it cost. */
export interface NewPair {
  /** As it was when that was claimed. */
  readonly consumed: CredentialRecord;
  readonly before: OpenTokens;
  readonly context: GrantContext | undefined;
  readonly received: Received;
}

export interface KeepPair {
  /**
   * Stores it, as long as it takes within the budget, and goes on trying after that. From the first failure on it lies aside,
   * where another process finds it: this one may end at any moment, and its claim may end before the store is well.
   */
  keep(pair: NewPair, owner: string): Promise<Kept>;
  /** What this process received for this very refresh token and could not store yet. */
  held(record: CredentialRecord): Received | undefined;
  /** The record as it would be if what this process holds for it were stored. */
  shown(record: CredentialRecord): CredentialRecord;
  /** Tries to store what this process holds. False: it holds nothing. Rejects when the store does not answer. */
  storeNow(id: string): Promise<boolean>;
  /** What is not stored yet is not tried again after this. */
  close(): void;
}

export interface KeepPairParts extends Pick<
  VaultTools,
  'store' | 'keyring' | 'localClock' | 'log' | 'record' | 'timings'
> {
  readonly orphanPairs: OrphanPairs;
  readonly discards: Discards;
  readonly notices: Notices;
  /** When the vault began to close; Infinity: it did not. */
  readonly closingSince: () => number;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

interface Unsaved extends NewPair {
  /** Under way, or done. */
  putting?: Promise<void> | undefined;
  /** What lies aside. */
  orphan?: string;
  isSettled: boolean;
}

export function createKeepPair(parts: KeepPairParts): KeepPair {
  const { store, keyring, localClock, log, record: tell, timings } = parts;
  const { orphanPairs, discards, notices, closingSince } = parts;
  /** By credential, the last one. */
  const aside = new Map<string, Unsaved>();
  const closed = new AbortController();

  function givesUpAt(begun: number): number {
    return Math.min(begun + timings.holdMs, closingSince() + timings.closeMs / 2);
  }

  /** Stored, or nobody's any more: then it lies aside no longer. */
  async function save(unsaved: Unsaved): Promise<Saved> {
    const { consumed, before, context, received } = unsaved;
    const saved = await savePair(parts, consumed, before, received);
    if (unsaved.isSettled) return saved;
    unsaved.isSettled = true;
    if (aside.get(consumed.id) === unsaved) aside.delete(consumed.id);
    if (saved.kind === 'superseded')
      discards.superseded(saved.by, consumed, context, nextTokens(before, received.tokens));
    await unsaved.putting;
    if (unsaved.orphan !== undefined)
      await orphanPairs.remove(consumed.id, unsaved.orphan).catch(() => undefined);
    return saved;
  }

  function putAside(unsaved: Unsaved): Promise<void> {
    if (unsaved.isSettled) return Promise.resolve();
    aside.set(unsaved.consumed.id, unsaved);
    return (unsaved.putting ??= put(unsaved));
  }

  async function put(unsaved: Unsaved): Promise<void> {
    try {
      unsaved.orphan = await orphanPairs.put(unsaved.consumed, unsaved.received);
    } catch {
      // In memory all the same; it is put there again with the next failure.
      unsaved.putting = undefined;
    }
  }

  async function trySave(unsaved: Unsaved): Promise<Saved> {
    // A store that hangs is no better than one that fails.
    const cancel = localClock.timer(timings.sharedMs, () => void putAside(unsaved));
    try {
      return await save(unsaved);
    } catch (error) {
      await putAside(unsaved);
      throw error;
    } finally {
      cancel();
    }
  }

  async function tryOn(unsaved: Unsaved): Promise<void> {
    let pause = timings.backoffMs;
    while (!unsaved.isSettled) {
      try {
        await sleep(localClock, pause, closed.signal);
        await trySave(unsaved);
        await notices.publish(unsaved.consumed.id);
      } catch {
        if (closed.signal.aborted) return;
        pause = Math.min(2 * pause, timings.longestBackoffMs);
      }
    }
  }

  function held({ id, generation, rtHash, atHash }: CredentialRecord): Unsaved | undefined {
    const unsaved = aside.get(id);
    const { consumed } = unsaved ?? {};
    // In the place of the very pair that it follows, and of no other.
    const isNext =
      consumed?.generation === generation && consumed.rtHash === rtHash && consumed.atHash === atHash;
    return isNext ? unsaved : undefined;
  }

  function failed({ consumed, orphan }: Unsaved): void {
    const { tenant, principal, serverId, kind, label } = consumed;
    tell({ kind: 'persist_failed', credential: { tenant, principal, serverId, kind, label } });
    log('vault.persist_failed', { server: serverId, isAside: orphan !== undefined });
  }

  return {
    async keep(pair, owner) {
      const unsaved: Unsaved = { ...pair, isSettled: false };
      const { consumed, before, received } = pair;
      const begun = localClock.now();
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        try {
          return await trySave(unsaved);
        } catch (error) {
          log('vault_persist_delayed', {
            server: consumed.serverId,
            reason: error instanceof Error ? error.name : 'unknown',
          });
        }
        if (localClock.now() + pause >= givesUpAt(begun)) break;
        await sleep(localClock, pause);
        // Nobody has to doubt what we are about to store.
        store.extendClaim(consumed.id, consumed.claimSeq, owner, timings.claimMs).catch(() => undefined);
      }
      failed(unsaved);
      void tryOn(unsaved);
      const { tokens, patch } = nextPair(keyring, consumed, before, received);
      return { kind: 'aside', record: { ...consumed, ...patch }, tokens };
    },
    held: (record) => held(record)?.received,
    shown(record) {
      const unsaved = held(record);
      if (!unsaved) return record;
      return { ...record, ...nextPair(keyring, record, unsaved.before, unsaved.received).patch };
    },
    async storeNow(id) {
      const unsaved = aside.get(id);
      if (!unsaved) return false;
      await save(unsaved);
      await notices.publish(id);
      return true;
    },
    close: () => closed.abort(),
  };
}
