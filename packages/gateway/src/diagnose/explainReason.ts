import { signInReasons, type SignInReason } from '../credentials/signInReason.ts';

const sentences: Readonly<Record<SignInReason, string>> = {
  absent: 'You have not signed in at the server.',
  expired_no_refresh: 'Your sign-in at the server has ended, and nothing was given to renew it with.',
  rejected: 'The authorization server does not take your sign-in any more.',
  lost_rotation:
    'Renewing your sign-in was interrupted, and the authorization server does not take it any more.',
  revoked: 'Your sign-in at the server was ended.',
  unbound: 'You signed in for another address, authorization server or client than the server has now.',
  unreadable: 'Your sign-in cannot be read with the key of this gateway.',
  insufficient_scope: 'Your sign-in does not reach far enough.',
  interaction_required: 'The authorization server wants something of you first.',
  audience_or_policy:
    'The server refuses even a new token: it may be meant for somebody else, or you may not use it there.',
  static_rejected: 'The server refuses the token that you brought.',
};

/** Why somebody has to sign in. A word that is not of the list says no more than that they have to. */
export function explainReason(reason: string): string {
  const known = signInReasons.find((word) => word === reason);
  return known === undefined ? 'You have to sign in at the server again.' : sentences[known];
}
