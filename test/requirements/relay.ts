import type { Requirement } from '../requirements.ts';

export const relay = {
  'relay.legacy.elicitation': [
    'done',
    'A form or page that a legacy server asks for in a call reaches its caller, and the answer goes back.',
  ],
  'relay.legacy.opt-in': [
    'done',
    'A server gets a user’s model or folders only where the operator lends them, and is offered them nowhere else.',
  ],
  'relay.legacy.declared': ['done', 'Nobody is asked what their client did not say it can be asked.'],
  'relay.legacy.nobody': [
    'done',
    'Where nobody can be asked, a form counts as closed and the rest is refused.',
  ],
  'relay.legacy.refusal': ['done', 'What a client answers instead of a result is told to the server.'],
  'relay.legacy.own-call': ['done', 'A question reaches the one whose call it belongs to, and nobody else.'],
  'relay.legacy.own-stream': [
    'done',
    'On the stream of a user’s own session a question reaches the only call under way, and nobody otherwise.',
  ],
  'relay.legacy.bounded': ['done', 'Questions and answers in a call are bounded in number and size.'],
  'relay.legacy.left': ['done', 'A question ends with its call.'],
  'relay.legacy.patience': ['done', 'The time that a person takes is not the server’s, and has an end.'],
  'relay.legacy.address-first': [
    'done',
    'An address that a server wants opened first is told to who can be sent there.',
  ],
  'relay.channel.own-call': [
    'done',
    'On a channel a question reaches its owner while one call is under way, and nobody otherwise.',
  ],
  'relay.channel.patience': [
    'done',
    'On a channel too, a person may take longer than the server, not for ever.',
  ],
  'relay.masked': [
    'done',
    'A token that a server repeats is in no question, no progress and no log message.',
  ],
  'relay.modern.input-required': [
    'done',
    'What a modern server asks back reaches a modern caller, whose answers go with the next call.',
  ],
  'relay.modern.declared': [
    'done',
    'A modern server hears what this caller can be asked, and nothing of others.',
  ],
  'relay.modern.opt-in': ['done', 'A modern server gets a user’s model only where the operator lends it.'],
  'relay.modern.unsupported': ['done', 'Who cannot be asked is told so with an error of its own.'],
  'relay.modern.kind': ['done', 'The result of a legacy server cannot pass for a question.'],
  'relay.watch.own': ['done', 'What changes for one user at a server is told to no other.'],
  'relay.watch.catalog': ['done', 'A change makes the list of the user it is about old.'],
  'relay.watch.counted': ['done', 'A stream of changes is open once, and only while somebody watches.'],
  'relay.watch.shared': ['done', 'The changes of a shared server come over one stream for all.'],
  'relay.watch.access': ['done', 'Who may not see a server hears nothing of it.'],
  'relay.watch.flood': ['done', 'Changes are told once a second at most.'],
  'relay.watch.outdated': ['done', 'A watch goes on with what its user presents now.'],
  'relay.watch.resources': ['done', 'An updated resource is told to who subscribed it, in either era.'],
  'relay.watch.bounded': ['done', 'What one user watches is bounded.'],
  'relay.complete': ['done', 'A server’s suggestions reach the caller; one that has none suggests nothing.'],
  'relay.log-level': [
    'done',
    'A server logs as verbosely as the most verbose caller wants, and each hears what they asked for.',
  ],
} as const satisfies Record<string, Requirement>;
