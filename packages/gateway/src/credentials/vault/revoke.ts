import { type CredentialKey, type CredentialRecord, credentialId } from '../../ports/index.ts';
import { type GrantContext, resolveClientAuth } from '../oauth/grantContext.ts';
import { revokeTokens } from '../oauth/revocation.ts';
import type { SignInReason } from '../signInRequired.ts';
import type { PendingTokenWrites, TokenPersister } from './persist.ts';
import type { ChangeBus } from './read.ts';
import { type DecryptedTokens, clearedClaim, mergeTokens, openTokens, resealTokens } from './tokenPair.ts';
import type { ResolvedVaultParts, RevocationResult } from './vault.ts';

interface CredentialRemoval {
  /** Leaves a tombstone, so that who had a credential is never taken for who never had one. */
  disconnect(key: CredentialKey): Promise<{ readonly existed: boolean; readonly revoked: RevocationResult }>;
  /** Leaves nothing, and waits for nobody. */
  remove(key: CredentialKey): Promise<boolean>;
}

interface CredentialRemovalParts extends Pick<
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

interface RequireSignInParts extends Pick<ResolvedVaultParts, 'store' | 'keyring' | 'clock' | 'record'> {
  readonly changeBus: ChangeBus;
}

/** A refresh that stores its pair at the same moment makes us look once more. */
const MAX_MARK_ATTEMPTS = 20;

/** Marks a credential: its user has to sign in again. What lives is used to its end. */
export function createRequireSignIn({
  store,
  keyring,
  clock,
  record: recordEvent,
  changeBus,
}: RequireSignInParts) {
  return async (key: CredentialKey, reason: SignInReason): Promise<boolean> => {
    for (let attempt = 0; attempt < MAX_MARK_ATTEMPTS; attempt += 1) {
      const record = await store.find(key);
      // What is over, or does not open, says enough.
      const tokens = record?.status === 'active' ? openTokens(keyring, record) : undefined;
      if (!record || !tokens) return false;
      const { id, generation, tokenSeq } = record;
      // As another pair, so that a refresh under way sees the mark before it stores its own.
      const sealed = resealTokens(keyring, record, tokens);
      const patch = { status: 'rejected', reason, statusAt: clock.now() } as const;
      const updated = await store.replace(id, { generation, tokenSeq }, { ...sealed, ...patch });
      if (!updated) continue;
      recordEvent({ kind: 'sign_in_needed', credential: key, reason });
      await changeBus.publish(id);
      return true;
    }
    return false;
  };
}

/** What becomes of tokens that nobody keeps. */
export interface RevocationQueue {
  /** Ends them at the authorization server, as well as can be. Never rejects. */
  revoke(
    record: CredentialRecord,
    context: GrantContext | undefined,
    tokens: DecryptedTokens,
  ): Promise<RevocationResult>;
  /**
   * Tokens that another sign-in replaced. RFC 7009 lets an authorization server end the whole grant with one of its tokens,
   * and the new one may be of the same grant: only where the operator knows better are they revoked.
   */
  revokeReplaced(record: CredentialRecord, context: GrantContext | undefined, tokens: DecryptedTokens): void;
  /** Tokens that came for a grant in whose place there is another by now, or none (null). */
  revokeSuperseded(
    by: CredentialRecord | null,
    record: CredentialRecord,
    context: GrantContext | undefined,
    tokens: DecryptedTokens,
  ): void;
  /** Work that nobody waits for but the end of the process. */
  runInBackground(work: Promise<unknown>): void;
  idle(): Promise<void>;
}

export function createRevocationQueue({
  clock,
  random,
  timings,
}: Pick<ResolvedVaultParts, 'clock' | 'random' | 'timings'>): RevocationQueue {
  const runningTasks = new Set<Promise<unknown>>();

  async function revoke(
    { issuer, clientId }: CredentialRecord,
    context: GrantContext | undefined,
    { accessToken, refreshToken, endpoints }: DecryptedTokens,
  ): Promise<RevocationResult> {
    if (!endpoints || endpoints.revocation === null) return 'unsupported';
    // Only to whom it came from, and as who it was given to.
    const isSameClient = context?.binding.issuer === issuer && context.client.clientId === clientId;
    if (!isSameClient) return 'failed';
    const client = await resolveClientAuth(context).catch(() => undefined);
    if (!client) return 'failed';
    const { headers, fetch } = context;
    const isRevoked = await revokeTokens({
      ...{ endpoint: endpoints.revocation, issuer, client, headers, fetch, clock, random },
      ...{ accessToken, refreshToken: refreshToken?.reveal(), timeoutMs: timings.revokeTimeoutMs },
    });
    return isRevoked ? 'yes' : 'failed';
  }

  function runInBackground(work: Promise<unknown>): void {
    const task: Promise<unknown> = work.then(
      () => runningTasks.delete(task),
      () => runningTasks.delete(task),
    );
    runningTasks.add(task);
  }

  function revokeReplaced(
    record: CredentialRecord,
    context: GrantContext | undefined,
    tokens: DecryptedTokens,
  ): void {
    if (context?.profile.revokeOnReplace === 'per-token') runInBackground(revoke(record, context, tokens));
  }

  return {
    revoke,
    revokeReplaced,
    revokeSuperseded(by, record, context, tokens) {
      const isGrantEnded = by === null || by.status === 'revoked';
      // Who signed out wants it ended, and cannot know that it was being renewed.
      if (isGrantEnded) runInBackground(revoke(record, context, tokens));
      else revokeReplaced(record, context, tokens);
    },
    runInBackground,
    async idle() {
      await Promise.all(runningTasks);
    },
  };
}
