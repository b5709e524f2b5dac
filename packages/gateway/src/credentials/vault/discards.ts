import type { CredentialRecord } from '../../ports/index.ts';
import { provableClient, type GrantContext } from '../oauth/grantContext.ts';
import { revokeTokens } from '../oauth/revocation.ts';
import type { OpenTokens } from './openTokens.ts';
import type { Revoked } from './vault.ts';
import type { VaultTools } from './vaultParts.ts';

/** What becomes of tokens that nobody keeps. */
export interface Discards {
  /** Ends them at the authorization server, as well as can be. Never rejects. */
  revoke(record: CredentialRecord, context: GrantContext | undefined, tokens: OpenTokens): Promise<Revoked>;
  /**
   * Tokens that another sign-in replaced. RFC 7009 lets an authorization server end the whole grant with one of its tokens,
   * and the new one may be of the same grant: only where the operator knows better are they revoked.
   */
  replaced(record: CredentialRecord, context: GrantContext | undefined, tokens: OpenTokens): void;
  /** Tokens that came for a grant in whose place there is another by now, or none (null). */
  superseded(
    by: CredentialRecord | null,
    record: CredentialRecord,
    context: GrantContext | undefined,
    tokens: OpenTokens,
  ): void;
  /** Work that nobody waits for but the end of the process. */
  behind(work: Promise<unknown>): void;
  idle(): Promise<void>;
}

export function createDiscards({
  clock,
  random,
  timings,
}: Pick<VaultTools, 'clock' | 'random' | 'timings'>): Discards {
  const under = new Set<Promise<unknown>>();

  async function revoke(
    { issuer, clientId }: CredentialRecord,
    context: GrantContext | undefined,
    { accessToken, refreshToken, endpoints }: OpenTokens,
  ): Promise<Revoked> {
    if (!endpoints || endpoints.revocation === null) return 'unsupported';
    // Only to whom it came from, and as who it was given to.
    const isTheirs = context?.binding.issuer === issuer && context.client.clientId === clientId;
    if (!isTheirs) return 'failed';
    const client = await provableClient(context).catch(() => undefined);
    if (!client) return 'failed';
    const { headers, fetch } = context;
    const done = await revokeTokens({
      ...{ endpoint: endpoints.revocation, issuer, client, headers, fetch, clock, random },
      ...{ accessToken, refreshToken: refreshToken?.reveal(), timeoutMs: timings.revokeMs },
    });
    return done ? 'yes' : 'failed';
  }

  function behind(work: Promise<unknown>): void {
    const done: Promise<unknown> = work.then(
      () => under.delete(done),
      () => under.delete(done),
    );
    under.add(done);
  }

  function replaced(record: CredentialRecord, context: GrantContext | undefined, tokens: OpenTokens): void {
    if (context?.profile.revokeOnReplace === 'per-token') behind(revoke(record, context, tokens));
  }

  return {
    revoke,
    replaced,
    superseded(by, record, context, tokens) {
      const isEnded = by === null || by.status === 'revoked';
      // Who signed out wants it ended, and cannot know that it was being renewed.
      if (isEnded) behind(revoke(record, context, tokens));
      else replaced(record, context, tokens);
    },
    behind,
    async idle() {
      await Promise.all(under);
    },
  };
}
