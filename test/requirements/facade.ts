import type { Requirement } from '../requirements.ts';

/** Our own authorization server for MCP clients. */
export const facade = {
  'facade.off': ['done', 'The authorization server is not there unless it is enabled.'],
  'facade.settings': ['done', 'A wrong section of the authorization server is told before anything starts.'],
  'facade.metadata': [
    'done',
    'It publishes one document for both standards under its own name, and the endpoints’ documents name it.',
  ],
  'facade.connect': ['done', 'A client gets tokens for one endpoint when its signed-in user agrees.'],
  'facade.refused': ['done', 'A client is told that its user refused.'],
  'facade.replicas': ['done', 'It is one server, whichever replica answers.'],
  'facade.keys': ['done', 'Its keys are made once, however many processes begin at once.'],
  'facade.keys.rotation': [
    'done',
    'Another key signs at every replica within two seconds, and what the old one signed holds until it is over.',
  ],
  'facade.keys.emergency': [
    'done',
    'In an emergency nothing by the old keys counts, at no replica after two seconds.',
  ],
  'facade.keys.streams': [
    'done',
    'Streams and calls of tokens by a key that is over in an emergency end within two seconds; by the calendar none does.',
  ],
  'facade.keys.command': ['done', 'A command rotates the signing key beside gateways that run.'],
  'facade.store': ['done', 'A copy of the store holds no code, no token and no secret of it.'],
  'facade.revocation': ['done', 'A client ends what it was granted, and nobody else’s (RFC 7009).'],
  'facade.clients': ['done', 'A user sees which applications they agreed to, and takes it back.'],
  'facade.redirect': ['done', 'Nobody is sent to an address that is not registered letter by letter.'],
  'facade.pkce': ['done', 'There is no code without PKCE by S256.'],
  'facade.code.once': ['done', 'A code is good once in all processes; when it comes again, its grant ends.'],
  'facade.code.client': ['done', 'A code is worth nothing to another client.'],
  'facade.proof.once': ['done', 'A client’s assertion is good once in all processes.'],
  'facade.refresh.replay': ['done', 'A refresh token that comes again ends its whole family.'],
  'facade.refresh.race': ['done', 'Clients that race with one refresh token get the same successor.'],
  'facade.consent.remembered': [
    'done',
    'Consent counts for a client and the host it sends people to; for a program on their own machine it is asked each time.',
  ],
  'facade.consent.client': ['done', 'Consent given to one client, or by one user, counts for no other.'],
  'facade.consent.resource': ['done', 'Consent given for one endpoint counts for no other.'],
  'facade.consent.forged': ['done', 'A consent that did not come from our own page is none.'],
  'facade.consent.text': ['done', 'What a client calls itself is shown as text.'],
  'facade.consent.page': [
    'done',
    'A browser comes from the client through the sign-in and the consent back to it.',
  ],
  'facade.consent.frame': ['done', 'The consent page is shown in nobody’s frame.'],
  'facade.cimd.document': ['done', 'A client can be the address of its metadata document.'],
  'facade.cimd.foreign': ['done', 'A document with another client’s id, or a shared secret, is refused.'],
  'facade.cimd.private': ['done', 'No client makes the gateway ask in private space.'],
  'facade.cimd.cached': [
    'done',
    'A client’s document is kept for as long as its answer says, for a minute at least and a day at most.',
  ],
  'facade.cimd.rate': [
    'done',
    'What clients make the gateway ask for is so much in a minute, for each network by itself.',
  ],
  'facade.cimd.reflection': [
    'done',
    'Clients make the gateway ask for their documents and keys alone, and for each once in a minute.',
  ],
  'facade.floods.rate': [
    'done',
    'Questions of clients are so many in a minute, for each network: what anybody can send fills no store.',
  ],
  'facade.floods.size': ['done', 'A question of a client that is longer than it needs to be is refused.'],
  'facade.floods.held': ['done', 'So many questions are open at one time; beyond that the oldest end.'],
  'facade.registration.rate': [
    'done',
    'Registrations of one network, and of all together, are limited in a minute.',
  ],
  'facade.registration.cap': [
    'done',
    'Registered clients are limited in number: the oldest that nobody agreed to makes room, and none that is in use.',
  ],
  'facade.registration.expiry': ['done', 'A registered client that nobody uses is forgotten.'],
  'facade.registration.off': ['done', 'Registration can be turned off.'],
  'facade.resource': ['done', 'Its tokens are for our endpoints, each for one, and open no other door.'],
  'facade.bearer': ['done', 'A token of it is its user only while everything in it fits a live grant.'],
  'facade.grant.ends': ['done', 'A grant ends with its session, its user’s sign-ins and their account.'],
  'facade.grant.alone': [
    'done',
    'The end of one client’s grant ends what belongs to it, and is no sign-out of its user.',
  ],
  'facade.grant.no-cookie': ['done', 'What names a grant opens no session.'],
  'facade.subject': [
    'done',
    'What is exchanged for a client is its own grant at the identity provider, and nobody else’s.',
  ],
  'facade.step-up': [
    'done',
    'What the identity provider wants proven before it exchanges for a client goes to the next sign-in for it.',
  ],
  'facade.logout': ['done', 'A sign-out ends what is exchanged, by session, API key and client alike.'],
  'facade.id-jag.accept': [
    'done',
    'An identity assertion of a trusted issuer is a token for the endpoint it names.',
  ],
  'facade.id-jag.told': [
    'done',
    'Where identity assertions are taken, the metadata and server/discover say so, and nowhere else.',
  ],
  'facade.id-jag.once': ['done', 'An identity assertion is good once in all processes.'],
  'facade.id-jag.refused': [
    'done',
    'An identity assertion of another type, audience, client, endpoint, issuer or key, or of another time, is refused.',
  ],
  'facade.id-jag.client': [
    'done',
    'An identity assertion is taken only from the client that proves to be the one it names.',
  ],
  'facade.id-jag.tenant': [
    'done',
    'An issuer other than the login’s speaks for the tenant it was given, and of no roles and groups.',
  ],
  'facade.id-jag.narrow': [
    'done',
    'An identity assertion that is bound to a key, for others besides us or for other scopes is refused.',
  ],
  'facade.id-jag.role': [
    'done',
    'An identity assertion that says nothing of roles takes none from its user.',
  ],
} as const satisfies Record<string, Requirement>;
