import type { Requirement } from '../requirements.ts';

export const between = {
  'between.rounds': [
    'done',
    'What a modern server asks back is put to a legacy caller in its call, and the answers go with the next request.',
  ],
  'between.rounds.bounded': ['done', 'One call has eight rounds and sixteen questions at most.'],
  'between.rounds.refusal': [
    'done',
    'A form that is not answered was closed; what else is not answered ends the call.',
  ],
  'between.rounds.page': ['done', 'Who cannot be sent to a page is told its address in the result.'],
  'between.rounds.left': ['done', 'A caller that leaves while it is asked has ended the call.'],
  'between.pages-first': [
    'done',
    'A page that a legacy server wants opened first is a question to a modern caller.',
  ],
  'between.parked': [
    'done',
    'A call that a legacy server asks something in waits for its modern client, which may answer at any replica.',
  ],
  'between.parked.progress': ['done', 'A call that waited tells its progress to the request that waits now.'],
  'between.parked.state': [
    'done',
    'An answer reaches the server once, from its own user and for its own request; anything else reaches nobody.',
  ],
  'between.parked.left': [
    'done',
    'A client that leaves has cancelled the call, at whichever replica it waits.',
  ],
  'between.parked.expired': [
    'done',
    'A call that nobody comes back for ends after ten minutes, at the server too.',
  ],
  'between.parked.bounded': [
    'done',
    'Calls that wait are bounded for each user, in all, and in what they keep.',
  ],
  'between.parked.gone': ['done', 'When the replica of a call is gone its outcome is told to be uncertain.'],
  'between.asked': [
    'done',
    'A legacy client is asked on the stream of its call what a modern server wants to know.',
  ],
  'between.asked.revision': ['done', 'A question has the form that the revision of the session knows.'],
  'between.cancelled': [
    'done',
    'A legacy client that cancels ends the request to a modern server; one that only leaves does not.',
  ],
  'between.logging': ['done', 'The level that a client names reaches a server of the other era.'],
  'between.asked.unable': ['done', 'A client that cannot be asked gets a failed result that says why.'],
} as const satisfies Record<string, Requirement>;
