import type { Requirement } from '../requirements.ts';

export const drafts = {
  'drafts.discover.tools': [
    'done',
    'A server that nobody saved shows its tools, after a sign-in where it wants one; saved, it is connected without another.',
  ],
  'stores.drafts.round-trip': [
    'done',
    'A draft is found as it was stored, by its tenant and its user alone.',
  ],
  'stores.drafts.taken-once': ['done', 'Of all who take a draft at once, one gets it, and only its user.'],
  'stores.drafts.expiry': ['done', 'A draft that is over is not taken, and is listed for whoever ends it.'],
  'stores.drafts.limit': [
    'done',
    'A user has no more open drafts than one may have, also by parallel requests.',
  ],
} satisfies Record<string, Requirement>;
