import type { Requirement } from '../requirements.ts';

/** How a user's token reaches the requests of a conversation, and nothing else. */
export const oboInjection = {
  'obo.injection.every-request': [
    'done',
    'Every HTTP request of a conversation asks for its token anew: hand-shakes, calls, streams, answers, farewells.',
  ],
  'obo.injection.own-bearer': [
    'done',
    'A request asks the bearer that it brings; what nobody asked for asks the one presented last.',
  ],
  'obo.injection.one-header': [
    'done',
    'A token is the only Authorization of its request, whatever is configured under that name.',
  ],
  'obo.injection.no-token': [
    'done',
    'Without a token nothing is sent: the caller gets the very error, and what nobody waits for is dropped.',
  ],
  'obo.injection.released': [
    'done',
    'Who gives up while a token is obtained leaves at once, and nothing goes out afterwards.',
  ],
  'obo.injection.late': ['done', 'Time that a token took is not held against the server.'],
  'obo.injection.stateless': [
    'done',
    'Users who share a stateless conversation never carry each other’s token, and it keeps nobody’s bearer.',
  ],
  'obo.injection.shared': ['done', 'A connection that everybody shares has no place for a user’s bearer.'],
  'obo.injection.carriers': [
    'done',
    'A websocket and a child process refuse a bearer instead of going on without it.',
  ],
  'obo.injection.redirect': ['done', 'A token does not follow a redirect to another origin.'],
  'obo.injection.breakers': ['done', 'A token that could not be had is told to no breaker.'],
} as const satisfies Record<string, Requirement>;
