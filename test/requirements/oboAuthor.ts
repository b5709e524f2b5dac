import type { Requirement } from '../requirements.ts';

export const oboAuthor = {
  'obo.author.max-age': [
    'done',
    'A role that a token gave counts for On-Behalf-Of servers only while a token confirmed it within OBO_AUTHOR_MAX_AGE.',
  ],
  'obo.author.confirmed': [
    'done',
    'A role that a token confirms again counts again after two seconds at most.',
  ],
  'obo.author.warned': [
    'done',
    'Administrators are told in the log and in the audit log three days before, once a day and author.',
  ],
  'obo.author.late': [
    'done',
    'An answer about an author that is overtaken by a change, or comes late, is not used.',
  ],
  'obo.author.one-read': ['done', 'Calls that ask about one author at once cost one look into the store.'],
} as const satisfies Record<string, Requirement>;
