import type { Requirement } from '../requirements.ts';

export const webSets = {
  'web.sets.steps': [
    'done',
    'Steps come out of their form as they went in, and what does not fit is told at its place.',
  ],
  'web.sets.run': [
    'done',
    'In a browser: a set is made of blocks, a later step takes what an earlier gave, and each step shows how far it is.',
  ],
  'web.sets.seen': [
    'done',
    'In a browser: before a run each step shows its server, what the set and its block fix, and what it takes from where; what was changed since is not run.',
  ],
  'web.sets.cancel': ['done', 'In a browser: a run is cancelled, kept, and found again after a reload.'],
  'web.sets.resume': ['done', 'In a browser: a run that waits for a sign-in goes on by itself after it.'],
} as const satisfies Record<string, Requirement>;
