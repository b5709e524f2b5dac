import { credentialId, type CredentialKey, type CredentialRecord } from '../../ports/index.ts';
import type { GrantContext } from '../oauth/grantContext.ts';
import type { RevocationQueue } from './revocationQueue.ts';
import type { ChangeBus } from './changeBus.ts';
import { openTokens } from './sealedTokens.ts';
import type { TokenPersister } from './persistTokens.ts';
import type { PendingTokenWrites } from './pendingTokenWrites.ts';
import { mergeTokens, clearedClaim } from './tokenPair.ts';
import type { RevocationResult } from './vault.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

export interface CredentialRemoval {
  /** Leaves a tombstone, so that who had a credential is never taken for who never had one. */
  disconnect(key: CredentialKey): Promise<{ readonly existed: boolean; readonly revoked: RevocationResult }>;
  /** Leaves nothing, and waits for nobody. */
  remove(key: CredentialKey): Promise<boolean>;
}

export interface CredentialRemovalParts extends Pick<
  ResolvedVaultParts,
  'store' | 'keyring' | 'clock' | 'contexts'
> {
  readonly revocationQueue: RevocationQueue;
  readonly changeBus: ChangeBus;
  readonly pendingTokenWrites: PendingTokenWrites;
  readonly persister: Pick<TokenPersister, 'findPending'>;
}

/** A refresh that stores its pair at the same moment makes us look once more; it cannot go on doing so. */
const MAX_ATTEMPTS = 20;

/** Ends a credential here, for everybody at once and behind nobody; then at the authorization server. */
export function createCredentialRemoval(parts: CredentialRemovalParts): CredentialRemoval {
  const { store, keyring, clock, contexts, revocationQueue, changeBus, pendingTokenWrites, persister } =
    parts;

  /** As it was at its end: what is revoked is what was stored last. */
  async function writeTombstone(key: CredentialKey): Promise<CredentialRecord | null> {
    const id = credentialId(key);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
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
        ...clearedClaim,
      } as const;
      if (await store.replace(id, { generation, tokenSeq }, tombstone)) return record;
    }
    throw new Error('The credential kept changing while it was being removed');
  }

  async function findContext(record: CredentialRecord): Promise<GrantContext | undefined> {
    const found = await contexts.resolve(record).catch(() => 'unbound' as const);
    return found === 'unbound' ? undefined : found;
  }

  async function revoke(
    record: CredentialRecord,
    contextPromise: Promise<GrantContext | undefined>,
  ): Promise<RevocationResult> {
    const context = await contextPromise;
    const tokens = openTokens(keyring, record);
    if (!tokens) return 'failed';
    // A pair that could not be stored is the one that lives.
    const pendingWrite = await pendingTokenWrites.find(record).catch(() => undefined);
    const pendingTokens = persister.findPending(record) ?? pendingWrite?.received;
    const newestTokens = pendingTokens ? mergeTokens(tokens, pendingTokens.tokens) : tokens;
    const revoked = await revocationQueue.revoke(record, context, newestTokens);
    if (pendingWrite) await pendingTokenWrites.remove(record.id, pendingWrite.sealed).catch(() => undefined);
    return revoked;
  }

  return {
    async disconnect(key) {
      const removedRecord = await writeTombstone(key);
      if (!removedRecord) return { existed: false, revoked: 'none' };
      await changeBus.publish(removedRecord.id);
      return { existed: true, revoked: await revoke(removedRecord, findContext(removedRecord)) };
    },
    async remove(key) {
      // A refresh under way finds that it was ended, whether it looks before the removal or after it.
      const removedRecord = await writeTombstone(key);
      const contextPromise = removedRecord && findContext(removedRecord);
      const existed = await store.remove(key);
      await changeBus.publish(credentialId(key));
      if (!contextPromise) return existed;
      revocationQueue.runInBackground(revoke(removedRecord, contextPromise));
      // Who ends it may take the server and its clients away next. Of a login somebody else may have to be asked.
      if (key.kind !== 'login') await contextPromise;
      return existed;
    },
  };
}
