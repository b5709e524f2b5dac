import type { Requirement } from '../requirements.ts';

export const obo = {
  'kernel.hidden-text': ['done', 'A hidden text is shown by no log, no JSON and no inspection.'],
  'credentials.obo.bearer': [
    'done',
    'A server that is sent exchanged tokens gets a way to them for each call, and no token is part of its target.',
  ],
  'credentials.obo.graph': [
    'done',
    'The token behind the Graph placeholder is exchanged for each call; when that fails, nothing is sent.',
  ],
  'obo.token.trusted': [
    'done',
    'Whether a server is trusted is asked before every exchange, after it, and at every use of a kept token.',
  ],
  'obo.token.target': ['done', 'Whether a token may go to an address is asked at every use.'],
  'obo.token.subject': [
    'done',
    'Without a token of the caller nothing is exchanged, and the reason is told.',
  ],
  'obo.token.warm': ['done', 'A kept token is found without waiting for anything.'],
  'obo.token.budget': [
    'done',
    'One call costs two token requests at most, the retry of an exchange and a forced one together.',
  ],
  'obo.token.renew': [
    'done',
    'A refused token is forgotten and exchanged once more; a second refusal is final and forgets that one too.',
  ],
  'obo.token.claims': [
    'done',
    'What a server or the provider wants proven goes into one exchange, later calls, and then the next sign-in.',
  ],
  'obo.token.told': [
    'done',
    'A failed exchange is the user’s turn, the operator’s or nobody’s, and the provider’s words reach no caller.',
  ],
  'obo.audit.exchange': [
    'done',
    'Every exchange is written down with its outcome and what to do about it, never with a token.',
  ],
  'obo.evict.server': [
    'done',
    'What was exchanged for a server that is gone or another one by now is forgotten.',
  ],
  'toolcall.obo.refused-once': [
    'done',
    'After a 401 one more token and one more try, for calls, lists and reads alike; then the refusal stands.',
  ],
  'toolcall.obo.nothing-else': [
    'done',
    'A call whose token cannot be had is not sent, and no other credential takes its place.',
  ],
  'toolcall.obo.sign-in': [
    'done',
    'A needed sign-in is a result for people and a 401 with a challenge for who came with a token.',
  ],
  'reinit.obo.bare': [
    'done',
    'A trusted server is listed bare for who has nothing to exchange, and for nobody who was refused.',
  ],
} as const satisfies Record<string, Requirement>;
