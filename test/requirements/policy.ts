import type { Requirement } from '../requirements.ts';

export const policy = {
  'policy.patterns.load': [
    'done',
    'A pattern that cannot be read stops the load with its place; one for other tools has a warning.',
  ],
  'policy.decide.lists': ['done', 'A tool runs, asks or is absent as the lists of patterns say.'],
  'policy.decide.modes': ['done', 'The mode says what becomes of what would ask.'],
  'policy.decide.roles': ['done', 'The rules of a role narrow what its users have, and nobody else.'],
  'policy.decide.names': [
    'done',
    'A pattern means the server of that name, and no server can be named to fall under it.',
  ],
  'policy.decide.deny-wins': ['done', 'What is denied never runs, whatever else is written.'],
  'policy.decide.programs': [
    'done',
    'What would ask is not there for a program that nobody can be asked for.',
  ],
  'policy.decide.bounded': ['done', 'What is remembered of the policy has an end.'],
  'policy.offered.alike': ['done', 'A list shows exactly the tools that a call would find.'],
  'policy.approval.one-run': [
    'done',
    'An approval is good for one run, whoever comes at once, on any replica.',
  ],
  'policy.approval.exact': [
    'done',
    'An approval is good for this user, server, tool and arguments, and for nothing else.',
  ],
  'policy.approval.changed-tool': ['done', 'A tool whose description or schema changed asks again.'],
  'policy.approval.own-user': [
    'done',
    'Nobody but the user who was asked can decide, and refusals are alike.',
  ],
  'policy.approval.person': ['done', 'An API key approves nothing.'],
  'policy.approval.expiry': ['done', 'A question waits ten minutes, and its answer is good for ten.'],
  'policy.approval.same-id': ['done', 'A call that waits keeps its id, and no question is lost by another.'],
  'policy.approval.denied': ['done', 'A denial ends the question, and an approval that has not run yet.'],
  'policy.approval.sealed': ['done', 'Who reads or writes the store learns no call and approves none.'],
  'policy.approval.bounded': ['done', 'A user has a hundred open questions at most, each of a bounded size.'],
  'policy.approval.audited': ['done', 'No call is asked about, approved or denied without an event.'],
  'policy.approval.told': ['done', 'A call that asks first is refused with the id to approve.'],
  'policy.approval.routes': ['done', 'Users list what waits for them and answer it over REST.'],
  'limits.rate.per-caller': ['done', 'Each caller has a number of requests a minute, whatever others do.'],
  'limits.rate.batch': ['done', 'Messages in one body count as many as they are.'],
  'limits.rate.bounded': ['done', 'Counting callers takes a bounded memory and forgets the idle.'],
  'limits.refusals.unheard': [
    'done',
    'Tokens that nobody can be asked about at the moment count as guesses where their holder is not known.',
  ],
  'limits.refusals.cookies': ['done', 'Guessed cookies count as guessed tokens; a known one never waits.'],
  'limits.refusals.per-network': ['done', 'A network that sends refused tokens without end is stopped.'],
} satisfies Record<string, Requirement>;
