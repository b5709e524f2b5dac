import type { Requirement } from '../requirements.ts';

export const sets = {
  'stores.runs.round-trip': [
    'done',
    'A run is read back as it was written; a list of runs has the latest first, without their results.',
  ],
  'stores.runs.apart': ['done', 'With the id of somebody else’s run nobody reads or changes it.'],
  'stores.runs.version': ['done', 'Of parallel writes over one version of a run, one is made.'],
  'stores.runs.limits': ['done', 'However many begin at once, nobody has more runs under way than allowed.'],
  'stores.runs.ends': [
    'done',
    'Of the runs that ended the oldest beyond the number kept go, and those whose time is over; none that runs.',
  ],
} as const satisfies Record<string, Requirement>;
