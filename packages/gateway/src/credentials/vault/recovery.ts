import { createHash } from 'node:crypto';
import { createSingleFlight } from '@behalf/kernel';
import { credentialId, type CredentialKey } from '../../ports/index.ts';
import { createRecent } from '../recent.ts';
import { judge } from './judge.ts';
import type { Reading } from './reading.ts';
import type { Renewal } from './renewal.ts';
import type { TokenOutcome } from './vault.ts';
import type { VaultTools } from './vaultParts.ts';
import type { CredentialView } from './view.ts';

export interface RecoveryParts extends Pick<VaultTools, 'clock' | 'localClock' | 'timings'> {
  readonly reading: Reading;
  readonly renewal: Renewal;
}

export type Recover = (key: CredentialKey, refused: string) => Promise<TokenOutcome>;

const MOST_REMEMBERED = 10_000;

/** A server refused an access token. By credential and token: what is known of one says nothing of the next. */
export function createRecovery({ clock, localClock, timings, reading, renewal }: RecoveryParts): Recover {
  const flights = createSingleFlight<TokenOutcome>();
  /** Tokens that were as new as can be when we gave them out here, until when. */
  const brandNew = createRecent<number>(MOST_REMEMBERED);
  /** Of those, the ones that were refused all the same. */
  const refusedAnew = createRecent<number>(MOST_REMEMBERED);

  function holds(memory: typeof brandNew, name: string): boolean {
    return (memory.get(name) ?? -Infinity) > localClock.now();
  }

  function remember(memory: typeof brandNew, name: string): void {
    memory.set(name, localClock.now() + timings.refusedMs);
  }

  function isNew({ record }: CredentialView): boolean {
    return record !== null && clock.now() - record.issuedAt < timings.refusedMs;
  }

  async function recover(key: CredentialKey, refused: string): Promise<TokenOutcome> {
    const id = credentialId(key);
    const name = nameOf(id, refused);
    const hopeless = { kind: 'needs_reauth', reason: 'audience_or_policy', credentialId: id } as const;
    if (holds(refusedAnew, name)) return hopeless;
    let view: CredentialView;
    try {
      view = await reading.anew(key);
    } catch {
      return { kind: 'unavailable', reason: 'store', retryAfterMs: timings.backoffMs };
    }
    const verdict = judge(view, { refused, now: clock.now() }, timings);
    if (verdict.kind === 'outcome') {
      const { outcome } = verdict;
      // A peer was faster: nothing is to be sent.
      if (outcome.kind === 'token' && isNew(view)) remember(brandNew, nameOf(id, outcome.token.accessToken));
      return outcome;
    }
    if (holds(brandNew, name)) {
      remember(refusedAnew, name);
      return hopeless;
    }
    const outcome = await renewal.renew(key, refused);
    if (outcome.kind === 'token') remember(brandNew, nameOf(id, outcome.token.accessToken));
    return outcome;
  }

  return (key, refused) =>
    flights.run([nameOf(credentialId(key), refused)], () => recover(key, refused), { detached: true });
}

function nameOf(id: string, token: string): string {
  return JSON.stringify([id, createHash('sha256').update(token).digest('base64url')]);
}
