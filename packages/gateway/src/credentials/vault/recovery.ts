import { createHash } from 'node:crypto';
import { createSingleFlight } from '@behalf/kernel';
import { credentialId, type CredentialKey } from '../../ports/index.ts';
import { createLruMap } from '../lruMap.ts';
import { evaluateCredential } from './evaluateCredential.ts';
import type { CredentialReader } from './credentialReader.ts';
import type { Renewal } from './renewal.ts';
import type { TokenOutcome } from './vault.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';
import type { CredentialSnapshot } from './credentialSnapshot.ts';

export interface RecoveryParts extends Pick<ResolvedVaultParts, 'clock' | 'localClock' | 'timings'> {
  readonly reader: CredentialReader;
  readonly renewal: Renewal;
}

export type Recover = (key: CredentialKey, refusedToken: string) => Promise<TokenOutcome>;

const MAX_ENTRIES = 10_000;

/** A server refused an access token. By credential and token: what is known of one says nothing of the next. */
export function createRecovery({ clock, localClock, timings, reader, renewal }: RecoveryParts): Recover {
  const flights = createSingleFlight<TokenOutcome>();
  /** Tokens that were as new as can be when we gave them out here, until when. */
  const newTokens = createLruMap<number>(MAX_ENTRIES);
  /** Of those, the ones that were refused all the same. */
  const refusedNewTokens = createLruMap<number>(MAX_ENTRIES);

  function isRemembered(tokens: typeof newTokens, tokenKey: string): boolean {
    return (tokens.get(tokenKey) ?? -Infinity) > localClock.now();
  }

  function remember(tokens: typeof newTokens, tokenKey: string): void {
    tokens.set(tokenKey, localClock.now() + timings.refusedTokenMs);
  }

  function isRecentlyIssued({ record }: CredentialSnapshot): boolean {
    return record !== null && clock.now() - record.issuedAt < timings.refusedTokenMs;
  }

  async function recover(key: CredentialKey, refusedToken: string): Promise<TokenOutcome> {
    const id = credentialId(key);
    const tokenKey = toTokenKey(id, refusedToken);
    const policyRefusal = { kind: 'needs_reauth', reason: 'audience_or_policy', credentialId: id } as const;
    if (isRemembered(refusedNewTokens, tokenKey)) return policyRefusal;
    let snapshot: CredentialSnapshot;
    try {
      snapshot = await reader.readFresh(key);
    } catch {
      return { kind: 'unavailable', reason: 'store', retryAfterMs: timings.backoffMs };
    }
    const decision = evaluateCredential(snapshot, { refusedToken, now: clock.now() }, timings);
    if (decision.kind === 'outcome') {
      const { outcome } = decision;
      // A peer was faster: nothing is to be sent.
      if (outcome.kind === 'token' && isRecentlyIssued(snapshot))
        remember(newTokens, toTokenKey(id, outcome.token.accessToken));
      return outcome;
    }
    if (isRemembered(newTokens, tokenKey)) {
      remember(refusedNewTokens, tokenKey);
      return policyRefusal;
    }
    const outcome = await renewal.renew(key, refusedToken);
    if (outcome.kind === 'token') remember(newTokens, toTokenKey(id, outcome.token.accessToken));
    return outcome;
  }

  return (key, refusedToken) =>
    flights.run([toTokenKey(credentialId(key), refusedToken)], () => recover(key, refusedToken), {
      detached: true,
    });
}

function toTokenKey(id: string, token: string): string {
  return JSON.stringify([id, createHash('sha256').update(token).digest('base64url')]);
}
