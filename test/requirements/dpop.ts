import type { Requirement } from '../requirements.ts';

export const dpop = {
  'dpop.proof': ['done', 'A proof is what RFC 9449 says: of one request, one token and one moment.'],
  'dpop.key': [
    'done',
    'Each credential has a key of its own, sealed, that no two users share and no log shows.',
  ],
  'dpop.sign-in': ['done', 'A sign-in names the key at its start and proves it at its end.'],
  'dpop.renewal': ['done', 'A token that is bound to a key is renewed with that key.'],
  'dpop.nonce': ['done', 'What a server wants repeated in a proof is repeated once, to that server alone.'],
  'dpop.asked': [
    'done',
    'Tokens are bound where server and authorization server ask for it, or the operator says so.',
  ],
  'dpop.require': ['done', 'Where the operator requires it, a token that is bound to nothing is not used.'],
  'dpop.resource': [
    'done',
    'A token that is bound to a key is never sent as a bearer token, and proven with each request.',
  ],
  'dpop.app': ['done', 'A token of our own for a shared server has a key of its own.'],
  'dpop.exchange': [
    'done',
    'An exchange shows a proof where the provider wants it, and no loop comes of a demand.',
  ],
  'dpop.exchange.resource': [
    'done',
    'An exchanged token that is bound to a key reaches its server with a proof in every request, in both eras.',
  ],
  'dpop.exchange-key': [
    'done',
    'The key of exchanged tokens is each user’s own, and part of what names a token.',
  ],
} as const satisfies Record<string, Requirement>;
