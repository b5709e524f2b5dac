import { signInReasons, type SignInReason } from '../credentials/signInReason.ts';

const signInReasonTexts: Readonly<Record<SignInReason, string>> = {
  absent: 'You have not signed in at the server.',
  expired_no_refresh: 'Your sign-in at the server has expired, and there is no refresh token.',
  rejected: 'The authorization server no longer accepts your sign-in.',
  lost_rotation: 'Renewing your sign-in was interrupted, and the authorization server no longer accepts it.',
  revoked: 'Your sign-in at the server was revoked.',
  unbound: 'The address, authorization server or client of the server has changed since you signed in.',
  unreadable: 'Your sign-in cannot be read with the key of this gateway.',
  insufficient_scope: 'Your sign-in lacks a required scope.',
  interaction_required: 'The authorization server requires an interactive sign-in.',
  audience_or_policy:
    'The server rejects even a new token: its audience may be wrong, or the server does not allow you access.',
  static_rejected: 'The server rejects the token that you provided.',
};

/** Why somebody has to sign in. A word that is not of the list says no more than that they have to. */
export function explainSignInReason(reason: string): string {
  const known = signInReasons.find((candidate) => candidate === reason);
  return known === undefined ? 'Sign in at the server again.' : signInReasonTexts[known];
}
