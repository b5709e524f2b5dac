/**
 * Why a user must act before a server can be called. `absent`: they never signed in. `expired_no_refresh`: their sign-in
 * is over. `rejected`: the identity provider does not take it any more. `interaction_required`: the provider wants
 * something of them first.
 */
export type SignInReason = 'absent' | 'expired_no_refresh' | 'rejected' | 'interaction_required';
