import type { ErrorKind } from './errorKind.ts';

/** Of exchanging a user's token for one for a server. */
export const oboErrorKinds = {
  OBO_SUBJECT_TOKEN_MISSING: {
    status: 401,
    title: 'There is no sign-in token to exchange',
    action: 'Sign in with your organization.',
  },
  OBO_SUBJECT_TOKEN_EXPIRED: {
    status: 401,
    title: 'The sign-in token to exchange has expired',
    action: 'Sign in again.',
  },
  OBO_EMPTY_RESPONSE: {
    status: 502,
    title: 'The identity provider returned no token',
    action: 'Ask the operator to check the identity provider.',
  },
  OBO_TEMPORARY: { status: 503, title: 'The identity provider is busy', action: 'Try again.' },
  OBO_REJECTED: {
    status: 401,
    title: 'The identity provider no longer accepts your sign-in',
    action: 'Sign in again.',
  },
  OBO_CONSENT_REQUIRED: {
    status: 401,
    title: 'The identity provider requires an action from you',
    action: 'Sign in again and consent.',
  },
  OBO_MISCONFIGURED: {
    status: 500,
    title: 'The token exchange is misconfigured',
    action: 'Ask the operator to check the client and the scopes.',
  },
} as const satisfies Record<string, ErrorKind>;
