import type { Requirement } from '../requirements.ts';

/** How the official suite is scored; what it says is in `npm run conformance`. */
export const conformance = {
  'conformance.score.due': [
    'done',
    'Everything of the suite that is scored of a client has to pass, and the extensions that we speak.',
  ],
  'conformance.score.strict': ['done', 'A warning, a wrong end or no result at all is no pass.'],
  'conformance.score.server': ['done', 'Everything of the suite that is scored of a server has to pass.'],
  'conformance.score.excuse': [
    'done',
    'Forgiven is only what the server behind the gateway fails without it in the same run, at most five times.',
  ],
} as const satisfies Record<string, Requirement>;
