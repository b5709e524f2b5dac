import type { HiddenText } from '@behalf/kernel';
import { newDpopKey } from '../dpop/dpopKey.ts';
import { requestTokens } from '../oauth/tokenEndpoint.ts';
import type { Commit } from './commit.ts';
import { lastOr, lookAgain, type Course, type Step } from './course.ts';
import { heldToken, skewOf } from './heldToken.ts';
import { nextPair, type Received } from './pair.ts';
import { savePair } from './savePair.ts';
import type { Notices } from './notices.ts';
import type { Reading } from './reading.ts';
import { nothingYet, type Setbacks } from './setbacks.ts';
import type { HeldToken, TokenOutcome } from './vault.ts';
import type { Refusal } from './refusedRefresh.ts';
import type { AppGrant, VaultTools } from './vaultParts.ts';
import { fitOf, type CredentialView } from './view.ts';

export interface AppRenewalParts extends Pick<
  VaultTools,
  'store' | 'keyring' | 'clock' | 'random' | 'readError' | 'appGrants' | 'record' | 'log' | 'timings' | 'dpop'
> {
  readonly reading: Reading;
  readonly setbacks: Setbacks;
  readonly notices: Notices;
  readonly commit: Commit;
}

/** With the key that the token is bound to, where it is. */
interface Bound extends Received {
  readonly dpopKey: HiddenText | undefined;
}

export type RenewApp = (course: Course, view: CredentialView, last: HeldToken | undefined) => Promise<Step>;

/** A token of our own. Asking twice costs a request and nothing else: the turn is enough, no claim is needed. */
export function createAppRenewal(parts: AppRenewalParts): RenewApp {
  const { clock, random, readError, appGrants, record: tell, log, timings, keyring, dpop } = parts;
  const { reading, setbacks, notices, commit } = parts;

  function failed({ key, id }: Course, view: CredentialView, answer: Refusal): TokenOutcome {
    tell({ kind: 'refresh', credential: key, outcome: answer.kind });
    const pair = view.record ?? nothingYet(id);
    if (!('error' in answer)) {
      return setbacks.away(pair, answer.kind === 'unavailable' ? answer.retryAfterMs : undefined);
    }
    // Nobody can sign in for it: whatever it is, it is the operator's to mend.
    log('vault.misconfigured', { server: key.serverId, error: answer.error });
    return setbacks.stand(pair, { kind: 'misconfigured', error: answer.error });
  }

  async function keep(course: Course, view: CredentialView, grant: AppGrant, pair: Bound): Promise<Step> {
    const { key, id } = course;
    const { record, tokens } = view;
    tell({ kind: 'refresh', credential: key, outcome: 'ok' });
    setbacks.clear(id);
    const isSame = record?.status === 'active' && fitOf(record, grant.context) === 'fits';
    // Another key is another credential: what is stored beside the old one could not be proven.
    if (!isSame || !tokens || tokens.dpopKey !== pair.dpopKey) {
      await commit({
        ...key,
        binding: grant.context.binding,
        endpoints: grant.endpoints,
        tokens: pair.tokens,
        sentAt: pair.sentAt,
        scopesRequested: grant.scopes,
        dpopKey: pair.dpopKey,
        baseGeneration: record?.generation ?? 0,
      });
      return lookAgain;
    }
    try {
      const saved = await savePair(parts, record, tokens, pair);
      if (saved.kind !== 'saved') return lookAgain;
      await notices.publish(id);
      return given(saved.record, saved.tokens);
    } catch {
      // Nothing is lost with it: the next one asks again.
      const next = nextPair(keyring, record, tokens, pair);
      const unsaved = { ...record, ...next.patch };
      reading.learn({ ...view, record: unsaved, tokens: next.tokens });
      return given(unsaved, next.tokens);
    }
  }

  function given(
    ...[record, tokens]: [Parameters<typeof heldToken>[0], Parameters<typeof heldToken>[1]]
  ): Step {
    const token = heldToken(record, tokens, skewOf(record.lifetimeMs, timings));
    return { kind: 'outcome', outcome: { kind: 'token', token } };
  }

  return async (course, view, last) => {
    const grant = await appGrants?.of(course.key);
    if (!grant) return lastOr(last, { kind: 'misconfigured', error: 'no_app_grant' });
    const { context, endpoints, scopes } = grant;
    const isBound = context.dpop === 'require' || grant.bindsTokens;
    const dpopKey = isBound ? (view.tokens?.dpopKey ?? newDpopKey(random)) : undefined;
    const answer = await requestTokens({
      endpoint: endpoints.token,
      ...{
        issuer: context.binding.issuer,
        client: context.client,
        headers: context.headers,
        fetch: context.fetch,
      },
      form: { ...context.form, grant_type: 'client_credentials', ...(scopes !== '' && { scope: scopes }) },
      ...{ readError, clock, random, timeoutMs: timings.postMs },
      prover: dpopKey && dpop.prover(dpopKey),
    });
    if (answer.kind !== 'tokens') return lastOr(last, failed(course, view, answer));
    const { tokenType } = answer.tokens;
    if (tokenType === 'dpop' ? !dpopKey : context.dpop === 'require') {
      return lastOr(last, failed(course, view, { kind: 'misconfigured', error: 'dpop_mismatch' }));
    }
    // RFC 6749, section 4.4.3: there should be none, and one would be a grant that nobody gave.
    const tokens = { ...answer.tokens, refreshToken: undefined, isRefreshTokenUnusable: false };
    const key = tokenType === 'dpop' ? dpopKey : undefined;
    return keep(course, view, grant, { tokens, sentAt: answer.sentAt, isInDoubt: false, dpopKey: key });
  };
}
