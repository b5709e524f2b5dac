import type { CredentialRecord } from '../../ports/index.ts';
import { resolveClientAuth, type GrantContext } from '../oauth/grantContext.ts';
import { revokeTokens } from '../oauth/revocation.ts';
import type { DecryptedTokens } from './sealedTokens.ts';
import type { RevocationResult } from './vault.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

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
