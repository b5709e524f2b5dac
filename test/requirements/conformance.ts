import type { Requirement } from '../requirements.ts';

/** How the official suite is scored; what it says is in `npm run conformance`. */
export const conformance = {
  'conformance.score.due': [
    'done',
    'Every scored sign-in of the suite has to pass, and the extensions that we speak.',
  ],
  'conformance.score.strict': ['done', 'A warning, a wrong end or no result at all is no pass.'],
} as const satisfies Record<string, Requirement>;
