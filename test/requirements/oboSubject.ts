import type { Requirement } from '../requirements.ts';

export const oboSubject = {
  'obo.subject.presented': ['done', 'A verified bearer token goes with its user, and with no program.'],
  'obo.subject.hidden': ['done', 'A caller’s token shows in nothing that is made of the caller.'],
  'obo.subject.bearer': ['done', 'With a bearer token, that token is exchanged, until its end and no other.'],
  'obo.subject.session': ['done', 'With a session, the token of that very sign-in is exchanged, or none.'],
  'obo.subject.owner': [
    'done',
    'Only a token that speaks of the caller’s own, enabled account is exchanged.',
  ],
  'obo.subject.input': ['done', 'No token that came along with a request is exchanged.'],
  'obo.subject.api-key': [
    'done',
    'An API key exchanges with the scope `obo` and while its user is signed in.',
  ],
  'obo.subject.no-provider': [
    'done',
    'Without an identity provider, or after a change of it, there is no token.',
  ],
  'obo.subject.warm': ['done', 'A known token costs no read, and many who ask share one.'],
  'obo.subject.signed-out': [
    'done',
    'After a sign-out anywhere the token is gone, within two seconds at most.',
  ],
  'obo.subject.outage': ['done', 'While the store does not answer, no token is exchanged.'],
  'obo.subject.at-once': ['done', 'Who has signed in is believed at once.'],
  'obo.subject.claims': [
    'done',
    'What the provider wants proven is asked for at the user’s next sign-in alone.',
  ],
  'obo.subject.claims-refused': [
    'done',
    'Who failed to prove it is not asked again, and nobody is sent off with an address that is too long.',
  ],
  'obo.subject.claims-server': [
    'done',
    'Of what a server wants proven only what it wants of the access token is passed on, 2 KB at most.',
  ],
  'obo.subject.claims-kept': ['done', 'What the provider wants proven is kept ten minutes, for one user.'],
  'obo.subject.claims-checked': ['done', 'Claims that are no JSON object, or a long one, are not passed on.'],
  'obo.subject.claims-sealed': ['done', 'Who has the cache can have no claims sent.'],
} as const satisfies Record<string, Requirement>;
