import type { Requirement } from '../requirements.ts';

export const idJag = {
  'id-jag.flow': [
    'done',
    'A user’s sign-in opens somebody else’s server in two legs, and nobody is sent to a page there.',
  ],
  'id-jag.fields': ['done', 'What each leg is sent is known byte for byte.'],
  'id-jag.subject': [
    'done',
    'Only an ID token of a sign-in that goes on is exchanged, never what a request brought.',
  ],
  'id-jag.subject-fresh': [
    'done',
    'An ID token that is over is renewed with its sign-in, and not without end.',
  ],
  'id-jag.subject-own': ['done', 'An ID token that speaks of somebody else is not sent.'],
  'id-jag.refresh-subject': [
    'done',
    'Where the operator says so, the refresh token of a sign-in that goes on is exchanged, and nothing that a request brought.',
  ],
  'id-jag.refresh-turn': [
    'done',
    'A refresh token that is exchanged is sent by nobody else meanwhile, in no process, and never after another took its place.',
  ],
  'id-jag.refresh-rotated': [
    'done',
    'What the provider puts in the place of an exchanged refresh token is stored, or ended after a sign-out.',
  ],
  'id-jag.refresh-doubt': [
    'done',
    'A refresh token whose answer was lost is exchanged again only once a renewal took it.',
  ],
  'id-jag.refresh-left': [
    'done',
    'Who gave up waiting for a refresh token leaves the line, sends nothing and puts nothing in doubt.',
  ],
  'id-jag.refresh-moved': [
    'done',
    'A sign-in of before the provider moved its token endpoint asks its user to sign in, and stops nobody else.',
  ],
  'id-jag.refresh-place': [
    'done',
    'A refresh token goes to the token endpoint of its sign-in, by its client, and to nobody else.',
  ],
  'id-jag.refresh-key': [
    'done',
    'What a refresh token was exchanged for is found again after its rotation, and by no other sign-in.',
  ],
  'id-jag.secret-stays': [
    'done',
    'An ID token leaves for the provider’s token endpoint and for nowhere else.',
  ],
  'id-jag.secrecy': ['done', 'No ID token, assertion or access token is in an answer, a log or a store.'],
  'id-jag.checked': ['done', 'An assertion for another client, audience, resource or issuer goes nowhere.'],
  'id-jag.not-bearer': ['done', 'What is no assertion is none, and an assertion is never a bearer token.'],
  'id-jag.single-use': ['done', 'An assertion is sent once: a repetition fetches another.'],
  'id-jag.listed': [
    'done',
    'An assertion is sent to who the operator has listed, whatever a server publishes.',
  ],
  'id-jag.faults': [
    'done',
    'What the resource’s authorization server says changes no sign-in at the provider.',
  ],
  'id-jag.key': [
    'done',
    'Another authorization server, client or credential there is another key of the cache.',
  ],
  'id-jag.extension': [
    'done',
    'Servers of such a provider are told of the extension, in either era, and no other is.',
  ],
  'id-jag.config': ['done', 'What cannot work is refused when the file loads.'],
  'id-jag.devidp': [
    'done',
    'The development provider gives assertions to clients that are known where they go.',
  ],
} as const satisfies Record<string, Requirement>;
