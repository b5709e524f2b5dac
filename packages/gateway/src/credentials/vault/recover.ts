import { createHash } from 'node:crypto';
import { LruMap, createSingleFlight } from '@behalf/kernel';
import { type CredentialKey, credentialId } from '../../ports/index.ts';
import { evaluateCredential, toUnavailable } from './decide.ts';
import type { CredentialReader, CredentialSnapshot } from './read.ts';
import type { Renewal } from './refresh.ts';
import type { TokenOutcome, VaultCore } from './vault.ts';

const MAX_ENTRIES = 10_000;

/**
 * Replaces an access token that the server answered with 401. If the server also refuses a token that was new when
 * it was handed out, another refresh would not help: the outcome is then `audience_or_policy`, without a request.
 */
export function createRecovery(core: VaultCore, reader: CredentialReader, renewal: Renewal) {
  const { clock, localClock, timings } = core;
  const flights = createSingleFlight<TokenOutcome>();
  /** Tokens that this process handed out right after they were issued, with the end of that period. */
  const newTokens = new LruMap<string, number>(MAX_ENTRIES);
  /** New tokens that a server refused. */
  const refusedNewTokens = new LruMap<string, number>(MAX_ENTRIES);

  const isRemembered = (tokens: typeof newTokens, tokenKey: string) =>
    (tokens.get(tokenKey) ?? -Infinity) > localClock.now();
  const remember = (tokens: typeof newTokens, tokenKey: string) =>
    tokens.set(tokenKey, localClock.now() + timings.refusedTokenMs);

  async function recover(key: CredentialKey, refusedToken: string, tokenKey: string): Promise<TokenOutcome> {
    const id = credentialId(key);
    const policyRefusal = { kind: 'needs_reauth', reason: 'audience_or_policy', credentialId: id } as const;
    if (isRemembered(refusedNewTokens, tokenKey)) return policyRefusal;
    let snapshot: CredentialSnapshot;
    try {
      snapshot = await reader.readFresh(key);
    } catch {
      return toUnavailable(core, 'store');
    }
    const decision = evaluateCredential(core, snapshot, { refusedToken });
    if (decision.kind === 'outcome') {
      const { outcome } = decision;
      const { record } = snapshot;
      // Another replica refreshed already: no request is needed.
      if (outcome.kind === 'token' && record && clock.now() - record.issuedAt < timings.refusedTokenMs)
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

  return (key: CredentialKey, refusedToken: string): Promise<TokenOutcome> => {
    const tokenKey = toTokenKey(credentialId(key), refusedToken);
    return flights.run([tokenKey], () => recover(key, refusedToken, tokenKey), { detached: true });
  };
}

function toTokenKey(id: string, token: string): string {
  return JSON.stringify([id, createHash('sha256').update(token).digest('base64url')]);
}
