import type { ErrorKind } from './errorKind.ts';

/** Of exchanging a user's token for one for a server. */
export const oboErrorKinds = {
  OBO_SUBJECT_TOKEN_MISSING: {
    status: 401,
    title: 'There is no sign-in to exchange',
    action: 'Sign in with your organisation.',
  },
  OBO_SUBJECT_TOKEN_EXPIRED: {
    status: 401,
    title: 'The sign-in to exchange has ended',
    action: 'Sign in again.',
  },
  OBO_EMPTY_RESPONSE: {
    status: 502,
    title: 'The identity provider gave no token',
    action: 'Ask the operator to check it.',
  },
  OBO_TEMPORARY: { status: 503, title: 'The identity provider is busy', action: 'Try again.' },
  OBO_REJECTED: {
    status: 401,
    title: 'The identity provider does not take your sign-in any more',
    action: 'Sign in again.',
  },
  OBO_CONSENT_REQUIRED: {
    status: 401,
    title: 'The identity provider wants you to act',
    action: 'Sign in again and consent.',
  },
  OBO_MISCONFIGURED: {
    status: 500,
    title: 'The exchange is misconfigured',
    action: 'Ask the operator to check client and scopes.',
  },
} as const satisfies Record<string, ErrorKind>;
