import type { Requirement } from '../requirements.ts';

export const oboFaults = {
  'obo.faults.bounded': [
    'done',
    'However a provider fails, a call costs two token requests at most, says whose turn it is and when to come back, and sends nothing.',
  ],
  'obo.faults.refused': [
    'done',
    'A server that refuses every token costs two token requests a call, is shown none of them twice, and is left alone after three calls.',
  ],
  'obo.faults.no-stale': [
    'done',
    'A token that was refused or is past its end is not shown again, whatever the provider does.',
  ],
  'obo.faults.told': [
    'done',
    'A caller learns whose turn it is; what the provider said and what to do about it is in the log and the audit log.',
  ],
  'obo.faults.claims': [
    'done',
    'Claims that a server or the provider demands go into the exchange, and are told to who came with a token.',
  ],
  'obo.recovery.once': [
    'done',
    'A call, a read or a list with a token that was revoked is sent again with another, for one token request.',
  ],
  'obo.recovery.final': [
    'done',
    'What is refused a second time is refused, and neither token is used again.',
  ],
  'obo.recovery.together': [
    'done',
    'Many calls whose token is revoked under them come through together, with one token request.',
  ],
  'obo.recovery.session': [
    'done',
    'A session that was lost is begun, and one that is closed is ended, with the token of now.',
  ],
  'obo.sign-in.whoami': [
    'done',
    'Who signs in with a browser calls by their session and is seen by their own name.',
  ],
  'obo.sign-in.claims': [
    'done',
    'What the provider or a server wants proven goes to the user’s next sign-in, once, and to nobody else’s.',
  ],
  'obo.sign-in.logout': [
    'done',
    'Each session has its own token, and none is used when its session is over.',
  ],
  'obo.sign-in.replicas': ['done', 'After a sign-out no replica uses a token of that session any more.'],
  'obo.sign-in.key': [
    'done',
    'An API key has tokens exchanged only with the scope `obo`, and only while its user is signed in.',
  ],
  'obo.sign-in.nobody': [
    'done',
    'A local account and a program have nothing to exchange: they are told so and nothing is sent.',
  ],
  'obo.sign-in.ended': [
    'done',
    'A login token at its end is renewed; where that is refused a sign-in is needed, and nothing is sent.',
  ],
  'obo.sign-in.no-fallback': [
    'done',
    'No value that a user entered takes the place of a token that cannot be had.',
  ],
  'obo.sign-in.reinit': [
    'done',
    'Reinitialising connects with the caller’s own token; bare is asked only for who has nothing to exchange.',
  ],
  'obo.graph.header': [
    'done',
    'The Graph placeholder becomes each caller’s own exchanged token, or nothing is sent.',
  ],
} as const satisfies Record<string, Requirement>;
