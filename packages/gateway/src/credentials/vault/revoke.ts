import {
  type CredentialKey,
  type CredentialPatch,
  type CredentialRecord,
  credentialId,
} from '../../ports/index.ts';
import { type GrantContext, resolveClientAuth } from '../oauth/grantContext.ts';
import { revokeTokens } from '../oauth/revocation.ts';
import type { SignInReason } from '../signInRequired.ts';
import type { PendingTokenWrites, TokenPersister } from './persist.ts';
import type { ChangeBus } from './read.ts';
import { type DecryptedTokens, clearedClaim, mergeTokens, openTokens, resealTokens } from './tokenPair.ts';
import type { RevocationResult, VaultCore } from './vault.ts';

/** Ends credentials: locally first and for all replicas, then at the authorization server. */
export function createCredentialRemoval(
  { store, keyring, clock, contexts }: VaultCore,
  revocationQueue: RevocationQueue,
  changeBus: ChangeBus,
  pendingTokenWrites: PendingTokenWrites,
  persister: Pick<TokenPersister, 'findPending'>,
) {
  /** The next generation without tokens. A refresh in flight cannot store its tokens any more. */
  const toTombstone = ({ generation, status }: CredentialRecord): CredentialPatch | null =>
    status === 'revoked'
      ? null
      : {
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
        };

  /** Returns the record as it was: its tokens are the ones to revoke. */
  async function writeTombstone(key: CredentialKey): Promise<CredentialRecord | null> {
    const removedRecord = await updateRecord(store, credentialId(key), toTombstone);
    if (removedRecord === 'contended')
      throw new Error('The credential kept changing while it was being removed');
    return removedRecord;
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
    // Unsaved tokens are newer than those in the record.
    const pendingWrite = await pendingTokenWrites.find(record).catch(() => undefined);
    const pendingTokens = persister.findPending(record) ?? pendingWrite?.received;
    const newestTokens = pendingTokens ? mergeTokens(tokens, pendingTokens.tokens) : tokens;
    const revoked = await revocationQueue.revoke({ record, context, tokens: newestTokens });
    if (pendingWrite) await pendingTokenWrites.remove(record.id, pendingWrite.sealed).catch(() => undefined);
    return revoked;
  }

  return {
    /** Leaves a tombstone, which distinguishes a disconnected user from one who never signed in. */
    async disconnect(
      key: CredentialKey,
    ): Promise<{ readonly existed: boolean; readonly revoked: RevocationResult }> {
      const removedRecord = await writeTombstone(key);
      if (!removedRecord) return { existed: false, revoked: 'none' };
      await changeBus.publish(removedRecord.id);
      return { existed: true, revoked: await revoke(removedRecord, findContext(removedRecord)) };
    },
    async remove(key: CredentialKey): Promise<boolean> {
      // The tombstone comes first: a refresh in flight reads it before the deletion or finds no record afterwards.
      const removedRecord = await writeTombstone(key);
      const contextPromise = removedRecord && findContext(removedRecord);
      const existed = await store.remove(key);
      await changeBus.publish(credentialId(key));
      if (!contextPromise) return existed;
      revocationQueue.runInBackground(revoke(removedRecord, contextPromise));
      // The caller may delete the server and its clients next: read them before that. The context of a login may
      // require a request to the identity provider, so it is not awaited.
      if (key.kind !== 'login') await contextPromise;
      return existed;
    },
  };
}

/** Marks that the user must sign in again. The access token stays usable until it expires. */
export function createRequireSignIn({ store, keyring, clock, recordEvent }: VaultCore, changeBus: ChangeBus) {
  return async (key: CredentialKey, reason: SignInReason): Promise<boolean> => {
    const id = credentialId(key);
    const marked = await updateRecord(store, id, (record) => {
      const tokens = record.status === 'active' ? openTokens(keyring, record) : undefined;
      // The new sequence number makes a refresh in flight read the mark before it stores its tokens.
      return (
        tokens && {
          ...resealTokens(keyring, record, tokens),
          ...{ status: 'rejected', reason, statusAt: clock.now() },
        }
      );
    });
    if (!marked || marked === 'contended') return false;
    recordEvent({ kind: 'sign_in_needed', credential: key, reason });
    await changeBus.publish(id);
    return true;
  };
}

/** More concurrent writes than a credential can have. */
const MAX_ATTEMPTS = 20;

/** Read, change, compare-and-set, until no other write comes between. Returns the record before the change. */
async function updateRecord(
  store: VaultCore['store'],
  id: string,
  change: (record: CredentialRecord) => CredentialPatch | null | undefined,
): Promise<CredentialRecord | null | 'contended'> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const record = await store.findById(id);
    const patch = record && change(record);
    if (!record || !patch) return null;
    const { generation, tokenSeq } = record;
    if (await store.replace(id, { generation, tokenSeq }, patch)) return record;
  }
  return 'contended';
}

/** Tokens that the vault does not keep. */
interface DiscardedGrant {
  readonly record: CredentialRecord;
  readonly context: GrantContext | undefined;
  readonly tokens: DecryptedTokens;
}

export type RevocationQueue = ReturnType<typeof createRevocationQueue>;

/** Token revocation (RFC 7009) and other work that only shutdown waits for. */
export function createRevocationQueue({ clock, random, timings }: VaultCore) {
  const runningTasks = new Set<Promise<unknown>>();

  /** Best effort; does not reject. */
  async function revoke({ record, context, tokens }: DiscardedGrant): Promise<RevocationResult> {
    const { issuer, clientId } = record;
    const { accessToken, refreshToken, endpoints } = tokens;
    if (!endpoints || endpoints.revocation === null) return 'unsupported';
    // Tokens go only to the issuer that issued them, with the client that they were issued to.
    const isSameClient = context?.binding.issuer === issuer && context.client.clientId === clientId;
    if (!isSameClient) return 'failed';
    const client = await resolveClientAuth(context).catch(() => undefined);
    if (!client) return 'failed';
    const { headers, fetch } = context;
    const isRevoked = await revokeTokens({
      ...{ endpoint: endpoints.revocation, issuer, tokenEndpoint: endpoints.token, client, headers, fetch },
      ...{ clock, random },
      ...{ accessToken, refreshToken: refreshToken?.reveal(), timeoutMs: timings.revokeTimeoutMs },
    });
    return isRevoked ? 'yes' : 'failed';
  }

  function runInBackground(work: Promise<unknown>): void {
    const remove = () => runningTasks.delete(task);
    const task: Promise<unknown> = work.then(remove, remove);
    runningTasks.add(task);
  }

  /**
   * For tokens that a new sign-in replaced. A server may revoke the whole grant with one token (RFC 7009, section
   * 2.1), and the new tokens may belong to the same grant. The issuer's profile must allow it.
   */
  function revokeReplaced(grant: DiscardedGrant): void {
    if (grant.context?.profile.revokeOnReplace === 'per-token') runInBackground(revoke(grant));
  }

  return {
    revoke,
    revokeReplaced,
    /** For tokens that a refresh returned after the grant was replaced by `by`, or removed (null). */
    revokeSuperseded(by: CredentialRecord | null, grant: DiscardedGrant): void {
      // A user who signed out wants the grant to end, including a refresh in flight.
      if (by === null || by.status === 'revoked') runInBackground(revoke(grant));
      else revokeReplaced(grant);
    },
    runInBackground,
    async idle(): Promise<void> {
      await Promise.all(runningTasks);
    },
  };
}
