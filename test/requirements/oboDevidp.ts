import type { Requirement } from '../requirements.ts';

export const oboDevidp = {
  'devidp.obo.token': ['done', 'On-Behalf-Of at the tenant gives a token for the resource, of the user.'],
  'devidp.obo.subject': ['done', 'Only a genuine, live token of a user for the client itself is exchanged.'],
  'devidp.obo.client': [
    'done',
    'A client proves itself by secret, certificate or federated assertion, and by nothing less.',
  ],
  'devidp.obo.target': ['done', 'One known resource with consent, or an error with Entra’s number.'],
  'devidp.obo.challenge': ['done', 'A claims challenge holds until a sign-in has met it.'],
  'devidp.obo.login': ['done', 'The tenant signs people in under Entra’s addresses.'],
  'devidp.obo.https': [
    'done',
    'Served over https with an authority made at the start, trusted by who is told.',
  ],
  'devidp.exchange.token': ['done', 'RFC 8693 and RFC 7523 give a token for the target, of the user.'],
  'devidp.exchange.subject': [
    'done',
    'A subject token that does not hold, or is of another type, is refused.',
  ],
  'devidp.exchange.actor': ['done', 'Who acts for the user is proven and named in the token.'],
  'devidp.exchange.client': ['done', 'No exchange without a proven client.'],
  'devidp.exchange.target': ['done', 'What no tokens are given for is refused by its proper error.'],
  'devidp.exchange.challenge': ['done', 'One user can be made to prove more, until a newer sign-in.'],
  'devidp.exchange.switches': [
    'done',
    'The provider fails on command, for one user or all, once or until told.',
  ],
  'devidp.exchange.record': ['done', 'Exchanges are counted, and no secret is kept.'],
  'devidp.sample.whoami': ['done', 'The sample server says whose token this very request carried.'],
  'devidp.sample.guard': ['done', 'The sample server lets nobody in whose token is not for it.'],
  'devidp.sample.challenge': ['done', 'The sample server demands claims that the provider can give.'],
  'devidp.sample.sessions': ['done', 'A session belongs to whose token began it.'],
  'devidp.sample.credentials': ['done', 'Every credential shown is remembered by its hash alone.'],
  'devidp.sample.development-only': [
    'done',
    'The sample server refuses production and answers this machine only.',
  ],
  'devidp.demo.whoami': ['done', 'The demo signs a person in, and each server sees a token of its own.'],
  'devidp.demo.things': ['done', 'What the demo says to try does what it says.'],
  'devidp.demo.stops': ['done', 'The demo leaves nothing behind.'],
  'devidp.demo.development-only': ['done', 'The demo refuses production.'],
} as const satisfies Record<string, Requirement>;
