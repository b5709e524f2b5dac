import { signInReasons, type SignInReason } from '../signInReason.ts';
import { earlyAt, heldToken, skewOf } from './heldToken.ts';
import type { VaultTimings } from './timings.ts';
import type { HeldToken, TokenOutcome } from './vault.ts';
import type { CredentialView } from './view.ts';

export interface Question {
  readonly now: number;
  /** The access token that a server refused. */
  readonly refused?: string | undefined;
  /** Nobody waits: is it time to renew it all the same? */
  readonly isEarly?: boolean | undefined;
}

/** `renew`: with what may still be used if that fails. */
export type Verdict =
  | { readonly kind: 'outcome'; readonly outcome: TokenOutcome }
  | { readonly kind: 'renew'; readonly last: HeldToken | undefined };

/** What follows from a credential as it is. Sends nothing, stores nothing. */
export function judge(view: CredentialView, question: Question, timings: VaultTimings): Verdict {
  const { key, record, tokens, fit } = view;
  const isApps = key.kind === 'client_credentials';
  const needs = (reason: SignInReason): Verdict =>
    // Nobody signs in for the app: it asks for another token.
    isApps ? { kind: 'renew', last: undefined } : needsReauth(view, reason);

  if (!record) return needs('absent');
  if (record.status === 'revoked' || record.sealed === null) return needs('revoked');
  if (fit === 'unbound' || record.status === 'unbound') return needs('unbound');
  if (!tokens || record.status === 'unreadable') return needs('unreadable');
  // Without its key: presented as a bearer it would be refused, or worse, accepted.
  if (tokens.tokenType === 'dpop' && !tokens.prover)
    return outcome({ kind: 'misconfigured', error: 'token_type_unsupported' });

  // Whoever has a copy could use it, and the operator wants none of that kind here.
  if (tokens.tokenType !== 'dpop' && view.context?.dpop === 'require' && record.kind !== 'static') {
    return needs('unbound');
  }

  const { now, refused, isEarly = false } = question;
  const isRefused = refused === tokens.accessToken;
  const toItsEnd = heldToken(record, tokens, 0);
  const last = !isRefused && now < toItsEnd.usableUntil ? toItsEnd : undefined;
  if (record.kind === 'static')
    return last ? given(last) : needs(isRefused ? 'static_rejected' : 'expired_no_refresh');

  const hasRefresh = isApps || record.rtHash !== null;
  if (!hasRefresh || record.status === 'rejected' || fit === 'old_client') {
    const reason =
      record.status === 'rejected' ? reasonOf(record.reason) : hasRefresh ? 'rejected' : 'expired_no_refresh';
    return last ? given(last) : needs(reason);
  }
  // A refresh token that may be dead is sent again only where the authorization server is known to forgive it, or when
  // there is nothing left to lose.
  if (record.rtSuspect && last) {
    return isEarly && isInGrace(view.context, record.statusAt, now) ? { kind: 'renew', last } : given(last);
  }
  const held = heldToken(record, tokens, skewOf(record.lifetimeMs, timings));
  const isUsable = !isRefused && now < held.usableUntil;
  if (isUsable && !(isEarly && now >= earlyAt(record, timings))) return given(held);
  return { kind: 'renew', last };
}

/** Whether the authorization server is known to take a refresh token again that it may have replaced then. */
export function isInGrace(context: CredentialView['context'], doubtedSince: number, now: number): boolean {
  return now - doubtedSince < (context?.profile.rotationGraceMs ?? 0);
}

export function needsReauth({ record }: CredentialView, reason: SignInReason): Verdict {
  return outcome({ kind: 'needs_reauth', reason, credentialId: record?.id });
}

function given(token: HeldToken): Verdict {
  return outcome({ kind: 'token', token });
}

function outcome(outcome: TokenOutcome): Verdict {
  return { kind: 'outcome', outcome };
}

function reasonOf(reason: string | null): SignInReason {
  return signInReasons.find((known) => known === reason) ?? 'rejected';
}
