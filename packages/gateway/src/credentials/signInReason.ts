/**
 * Why a user must act before a server can be called. `absent`: they never signed in there. `expired_no_refresh`: it is over and
 * cannot be renewed. `rejected`: it is not taken any more. `lost_rotation`: its renewal was lost on the way. `revoked`: they, or
 * an administrator, ended it. `unbound`: it was given for another address, issuer or client. `unreadable`: it does not open with
 * our key. `insufficient_scope`: it does not reach far enough. `interaction_required`: the provider wants something of them first.
 * `audience_or_policy`: the server refuses even a new one. `static_rejected`: the token they brought is refused.
 */
export const signInReasons = [
  'absent',
  'expired_no_refresh',
  'rejected',
  'lost_rotation',
  'revoked',
  'unbound',
  'unreadable',
  'insufficient_scope',
  'interaction_required',
  'audience_or_policy',
  'static_rejected',
] as const;
export type SignInReason = (typeof signInReasons)[number];
