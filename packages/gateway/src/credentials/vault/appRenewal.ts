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
  'store' | 'keyring' | 'clock' | 'random' | 'readError' | 'appGrants' | 'record' | 'log' | 'timings'
> {
  readonly reading: Reading;
  readonly setbacks: Setbacks;
  readonly notices: Notices;
  readonly commit: Commit;
}

export type RenewApp = (course: Course, view: CredentialView, last: HeldToken | undefined) => Promise<Step>;

/** A token of our own. Asking twice costs a request and nothing else: the turn is enough, no claim is needed. */
export function createAppRenewal(parts: AppRenewalParts): RenewApp {
  const { clock, random, readError, appGrants, record: tell, log, timings, keyring } = parts;
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

  async function keep(course: Course, view: CredentialView, grant: AppGrant, pair: Received): Promise<Step> {
    const { key, id } = course;
    const { record, tokens } = view;
    tell({ kind: 'refresh', credential: key, outcome: 'ok' });
    setbacks.clear(id);
    const isSame = record?.status === 'active' && fitOf(record, grant.context) === 'fits';
    if (!isSame || !tokens) {
      await commit({
        ...key,
        binding: grant.context.binding,
        endpoints: grant.endpoints,
        tokens: pair.tokens,
        sentAt: pair.sentAt,
        scopesRequested: grant.scopes,
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
    });
    if (answer.kind !== 'tokens') return lastOr(last, failed(course, view, answer));
    // RFC 6749, section 4.4.3: there should be none, and one would be a grant that nobody gave.
    const tokens = { ...answer.tokens, refreshToken: undefined, isRefreshTokenUnusable: false };
    return keep(course, view, grant, { tokens, sentAt: answer.sentAt, isInDoubt: false });
  };
}
