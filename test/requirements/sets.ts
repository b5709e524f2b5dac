import type { Requirement } from '../requirements.ts';

export const sets = {
  'sets.saved.kept': [
    'done',
    'A set keeps its title and its steps over saving, changing and a restart; one that does not fit its blocks is not saved.',
  ],
  'sets.sealed.at-rest': [
    'done',
    'Title and steps of a set, and all of a run but how it stands, are sealed in the store.',
  ],
  'sets.sealed.tampered': [
    'done',
    'A set or a run that was moved to another owner, user, set or id past the gateway is not there.',
  ],
  'sets.access.alike': [
    'done',
    'A set of somebody else answers as one that does not exist, to an administrator too.',
  ],
  'sets.access.no-block': ['done', 'A shared set gives nobody its blocks, and says which steps lack theirs.'],
  'sets.audit.told': [
    'done',
    'Saving, sharing, running and removing a set are written down, with names and no values; steps name their run.',
  ],
  'sets.run.pointer': [
    'done',
    'A later input takes what stands at a JSON pointer in the output of an earlier step, or the step is not sent.',
  ],
  'sets.run.job': ['done', 'A run goes on without who began it, and tells of each step to who listens.'],
  'sets.run.own-only': ['done', 'A run and its results are there for who ran it and for nobody else.'],
  'sets.run.missing': [
    'done',
    'What all steps of a set miss is named in one answer before anything is asked of anybody.',
  ],
  'sets.run.decided': ['done', 'A run brings nothing to an input that the set decides about.'],
  'sets.run.seen': [
    'done',
    'Who read one version of a set does not run another, and a run sends no step whose block was changed since it began.',
  ],
  'sets.run.failed': ['done', 'A step whose tool failed ends the run, and resuming does not ask it again.'],
  'sets.run.not-sent': ['done', 'A run goes on with a step that failed before it was sent.'],
  'sets.run.uncertain': [
    'done',
    'A step that may have run is repeated by resuming only where the operator vouches for its tool; else the run stops and says so.',
  ],
  'sets.run.interrupted': [
    'done',
    'A run whose replica was killed is shown as interrupted; a step that was under way may have run.',
  ],
  'sets.run.once': ['done', 'A run is owned by one replica while it runs, and resumed by one.'],
  'sets.run.cancel': [
    'done',
    'A run is cancelled from any replica, begins no step after it, and is never resumed.',
  ],
  'sets.run.sign-in': [
    'done',
    'A run waits for a sign-in that its next step needs, and goes on after it without repeating what is done.',
  ],
  'sets.run.approval': ['done', 'A run waits for the approval of a call that asks first.'],
  'sets.run.key': ['done', 'A run begins no step once the key that began it was taken back.'],
  'sets.run.account': ['done', 'A run begins no step once the account of its user is disabled.'],
  'sets.run.v08': [
    'done',
    'A deleted credential that a run of a set names is absent, and never becomes an anonymous run or another credential.',
  ],
  'sets.run.never-another': [
    'done',
    'Two users who run one set at once never use the credential of the other, nor does it matter to one what the other ends.',
  ],
  'sets.run.bounds': [
    'done',
    'What a run is given and keeps has an end; a result that is too large is not kept.',
  ],
  'sets.run.lost': [
    'done',
    'Runs whose replica is gone keep nobody from beginning another; what was under way in them is uncertain.',
  ],
  'sets.run.limit': ['done', 'Nobody has more runs under way than allowed, and the answer says so.'],
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
