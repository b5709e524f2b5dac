import { credentialId, type CredentialKey, type CredentialRecord } from '../../ports/index.ts';
import type { GrantContext } from '../oauth/grantContext.ts';
import type { Discards } from './discards.ts';
import type { Notices } from './notices.ts';
import { openTokens } from './openTokens.ts';
import type { KeepPair } from './keepPair.ts';
import type { OrphanPairs } from './orphanPairs.ts';
import { nextTokens, settled } from './pair.ts';
import type { Revoked } from './vault.ts';
import type { VaultTools } from './vaultParts.ts';

export interface Disconnect {
  /** Leaves a tombstone, so that who had a credential is never taken for who never had one. */
  disconnect(key: CredentialKey): Promise<{ readonly existed: boolean; readonly revoked: Revoked }>;
  /** Leaves nothing, and waits for nobody. */
  end(key: CredentialKey): Promise<boolean>;
}

export interface DisconnectParts extends Pick<VaultTools, 'store' | 'keyring' | 'clock' | 'contexts'> {
  readonly discards: Discards;
  readonly notices: Notices;
  readonly orphanPairs: OrphanPairs;
  readonly keepPair: Pick<KeepPair, 'held'>;
}

/** A refresh that stores its pair at the same moment makes us look once more; it cannot go on doing so. */
const MOST_TRIES = 20;

/** Ends a credential here, for everybody at once and behind nobody; then at the authorization server. */
export function createDisconnect(parts: DisconnectParts): Disconnect {
  const { store, keyring, clock, contexts, discards, notices, orphanPairs, keepPair } = parts;

  /** As it was at its end: what is revoked is what was stored last. */
  async function bury(key: CredentialKey): Promise<CredentialRecord | null> {
    const id = credentialId(key);
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const record = await store.findById(id);
      if (!record || record.status === 'revoked') return null;
      const { generation, tokenSeq } = record;
      const tombstone = {
        generation: generation + 1,
        tokenSeq: 0,
        status: 'revoked',
        reason: 'revoked',
        statusAt: clock.now(),
        sealed: null,
        rtHash: null,
        atHash: null,
        rtSuspect: false,
        tokenExpiresAt: null,
        lifetimeMs: null,
        ...settled,
      } as const;
      if (await store.replace(id, { generation, tokenSeq }, tombstone)) return record;
    }
    throw new Error('A credential changed faster than it could be ended');
  }

  async function contextOf(record: CredentialRecord): Promise<GrantContext | undefined> {
    const context = await contexts.of(record).catch(() => 'unbound' as const);
    return context === 'unbound' ? undefined : context;
  }

  async function revoke(
    record: CredentialRecord,
    knowing: Promise<GrantContext | undefined>,
  ): Promise<Revoked> {
    const known = await knowing;
    const tokens = openTokens(keyring, record);
    if (!tokens) return 'failed';
    // A pair that could not be stored is the one that lives.
    const orphan = await orphanPairs.find(record).catch(() => undefined);
    const unsaved = keepPair.held(record) ?? orphan?.received;
    const last = unsaved ? nextTokens(tokens, unsaved.tokens) : tokens;
    const revoked = await discards.revoke(record, known, last);
    if (orphan) await orphanPairs.remove(record.id, orphan.sealed).catch(() => undefined);
    return revoked;
  }

  return {
    async disconnect(key) {
      const ended = await bury(key);
      if (!ended) return { existed: false, revoked: 'none' };
      await notices.publish(ended.id);
      return { existed: true, revoked: await revoke(ended, contextOf(ended)) };
    },
    async end(key) {
      // A refresh under way finds that it was ended, whether it looks before the removal or after it.
      const ended = await bury(key);
      const knowing = ended && contextOf(ended);
      const existed = await store.remove(key);
      await notices.publish(credentialId(key));
      if (!knowing) return existed;
      discards.behind(revoke(ended, knowing));
      // Who ends it may take the server and its clients away next. Of a login somebody else may have to be asked.
      if (key.kind !== 'login') await knowing;
      return existed;
    },
  };
}
