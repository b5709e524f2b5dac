import type { Requirement } from '../requirements.ts';

export const reinit = {
  'reinit.connected': ['done', 'A server that works is brought up anew, and shows its tools.'],
  'reinit.oauth.discovered': [
    'done',
    'When a sign-in is what is missing, tools are asked for without one, and nothing of anybody is sent.',
  ],
  'reinit.oauth.nothing': ['done', 'A server that shows nothing without a sign-in waits for one.'],
  'reinit.rejected': ['done', 'A credential that is refused is not taken for a sign-in that is missing.'],
  'reinit.unreachable': ['done', 'A server that is down is unreachable, whatever its name says.'],
  'reinit.variables': ['done', 'Values that are missing are named, and nothing is sent.'],
  'reinit.fresh': ['done', 'What is shown after a reinitialisation is what the server has now.'],
  'reinit.inspection': ['done', 'A server whose inspection failed is inspected again on request.'],
  'reinit.unknown': ['done', 'A server that is not there cannot be reinitialised.'],
  'reinit.bare': ['done', 'A bare definition holds no key, no authorization and no value of a user.'],
  'reinit.outcomes': [
    'done',
    'Each outcome has the success, words and fields that existing front ends branch on.',
  ],
  'reinit.explicit': [
    'done',
    'An explicit attempt passes a breaker, and replaces a connection unless told not to.',
  ],
  'reinit.timeout': ['done', 'A caller waits no longer than they said, and nothing more is begun for them.'],
  'reinit.patience': [
    'done',
    'Callers in a hurry neither shorten the opening of a connection nor park its server for the others.',
  ],
  'reinit.deferred': [
    'done',
    'A server that names fields of a chat waits for one, after the user has filled in what it needs.',
  ],
  'reinit.obo': [
    'done',
    'A server that refused an exchanged token, or is not trusted with one, is never asked without one.',
  ],
  'reinit.bare-only-oauth': [
    'done',
    'A key, a value or a permission that is refused is never followed by a bare request.',
  ],
  'reinit.filter': ['done', 'Tools that the definition hides are not shown by a reinitialisation either.'],
  'reinit.failures': ['done', 'Each failure of an attempt is told by its kind.'],
  'reinit.left': ['done', 'Nothing more is tried for somebody who has left.'],
  'status.obo': ['done', 'The status of a server that is sent exchanged tokens never asks for a sign-in.'],
  'status.sign-in': [
    'done',
    'The status asks for a sign-in where the file or the server wants one, and nowhere else.',
  ],
  'status.variables': ['done', 'The status tells when values of the user are missing.'],
  'status.partial': ['done', 'A server whose status cannot be told keeps no other from being told.'],
  'status.own': ['done', 'The status is that of the caller’s own connection.'],
  'status.hidden': ['done', 'The status of a server that the caller may not see is not told.'],
} as const satisfies Record<string, Requirement>;
