import type { Requirement } from '../requirements.ts';

/** Sign-ins of users at servers. */
export const flow = {
  'flow.f01.order': ['done', 'Where a server’s users sign in is looked for in the order of the standards.'],
  'flow.f02.resource': ['done', 'Metadata that speaks of another address is not believed.'],
  'flow.f03.issuer': ['done', 'An issuer is compared letter by letter.'],
  'flow.f04.pkce': ['done', 'Without S256 there is no sign-in, unless the operator says that it is there.'],
  'flow.f05.iss': ['done', 'An answer must come from who was asked; of others not even errors are believed.'],
  'flow.f06.single-use': ['done', 'A sign-in ends once, for its user, in its browser.'],
  'flow.f07.phishing': [
    'done',
    'Somebody else’s link is refused before the authorization server is reached.',
  ],
  'flow.f08.duplicate': [
    'done',
    'A second start joins the first, too many are put off, cancelled ones are over.',
  ],
  'flow.f08.other': [
    'done',
    'A sign-in is joined only by who wants the same credential and nothing more; nobody signs in for another one unawares.',
  ],
  'flow.f08.crash': [
    'done',
    'A process that dies while it redeems a code keeps its user waiting a minute at most.',
  ],
  'flow.f09.replicas': ['done', 'A sign-in may end at another replica than it began at.'],
  'flow.f10.denied': ['done', 'Who declines is told within a second; the status alone decides.'],
  'flow.f11.failed': ['done', 'A sign-in that fails leaves the grant before it as it was.'],
  'flow.f12.same-id': ['done', 'A new grant takes the place of the old one under the same id.'],
  'flow.f13.once': [
    'done',
    'We register once, and once more when we are forgotten; configured clients stay.',
  ],
  'flow.f13.kept': [
    'done',
    'A client is given up only for another one: a refusal of a moment costs nobody their grant.',
  ],
  'flow.client.method': [
    'done',
    'How a client proves itself is kept with what it was given, and the same on every leg.',
  ],
  'flow.f14.document': ['done', 'The document about us names itself, and our key proves it.'],
  'flow.f15.entra': ['done', '`resource` is sent on all three legs or on none.'],
  'flow.f15.audience': ['done', 'Without `resource` the scopes say for whom a token is.'],
  'flow.f16.inside': ['done', 'No address that a server names leads inside.'],
  'flow.f17.redirect': ['done', 'Where codes and secrets are sent no redirect is followed.'],
  'flow.f18.keys-away': ['done', 'What fails after the exchange costs nobody their grant.'],
  'flow.f19.unverified': ['done', 'It is told whether the server was seen to take the token.'],
  'flow.f20.revoked': ['done', 'What became of a revocation is told as it was.'],
  'flow.f21.hostile': [
    'done',
    'A hostile server gets no token of an authorization server that others trust.',
  ],
  'flow.rules.endpoints': ['done', 'Endpoints stand where their issuer does, or where the operator says.'],
  'flow.rules.asked': ['done', 'Users are told whose tokens go where when the two are not obviously one.'],
  'flow.rules.operators': [
    'done',
    'What an operator’s server said last of its authorization server still counts.',
  ],
  'flow.rules.written': [
    'done',
    'What a definition writes down of its authorization server guards it, whatever else waits for a value.',
  ],
  'flow.rules.places': [
    'done',
    'An authorization server of the operator’s is guarded at every place that it has.',
  ],
  'flow.rules.unknown': [
    'done',
    'While the operator’s authorization servers are not all known, nobody signs in at a stranger’s.',
  ],
  'flow.rules.in-use': ['done', 'A server guards the authorization server that it uses, not all it names.'],
  'flow.rules.vouched': [
    'done',
    'What the operator opened for a server opens the way to nobody whom that server names.',
  ],
  'flow.discovery.legacy': ['done', 'A server of 2025-03-26 works where the operator allows it.'],
  'flow.discovery.cache': ['done', 'Metadata is read once an hour.'],
  'flow.discovery.scopes': ['done', 'What is asked for is chosen in a fixed order.'],
  'flow.discovery.bounded': [
    'done',
    'What a server publishes is taken in measure, and only as what it should be.',
  ],
  'flow.start.people': ['done', 'Only people begin sign-ins, and only where there are any.'],
  'flow.start.step-up': ['done', 'Widening keeps what was asked for, and ends after two tries an hour.'],
  'flow.start.authorize': [
    'done',
    'An address of a user’s server says nothing that is the operator’s to say.',
  ],
  'flow.start.times': [
    'done',
    'The operator says how long a sign-in may take, is told of and is looked for.',
  ],
  'flow.start.config': [
    'done',
    'A definition that changes meanwhile ends the sign-in before the code is redeemed.',
  ],
  'flow.start.return-to': ['done', 'A sign-in leads back to a path of ours and nowhere else.'],
  'flow.start.sealed': ['done', 'No secret of a sign-in stands in the store in clear.'],
  'flow.callback.parameters': [
    'done',
    'What comes back twice, elsewhere or without a state is not believed.',
  ],
  'flow.callback.audited': ['done', 'Who connected what is written down.'],
  'flow.callback.secrets': ['done', 'What is told of a sign-in holds no secret.'],
  'flow.context.unbound': [
    'done',
    'A changed address, issuer, client or resource ends a grant before anything is sent.',
  ],
  'flow.context.renewed': ['done', 'A renewal asks the token endpoint alone, and finds one that moved.'],
  'flow.app.grant': ['done', 'A token of our own is asked for with a secret or a key.'],
  'flow.import.bound': ['done', 'A token that is brought along must fit the server.'],
  'flow.import.probed': [
    'done',
    'A token is shown to its server before it is stored: what is refused is not kept.',
  ],
  'flow.import.label': [
    'done',
    'One label is one credential, and a token that is brought never ends a sign-in.',
  ],
  'flow.import.token': ['done', 'What is brought can stand in a header, and ends within ten years.'],
  'flow.http.scope': ['done', 'A key that may only call brings, chooses and ends no credential.'],
  'flow.http.connect': [
    'done',
    'A user connects a server over HTTP, calls it with their own token, and disconnects.',
  ],
  'flow.http.pending': ['done', 'A second start is told of the first; cancelling works twice.'],
  'flow.http.phishing': ['done', 'A connect link works for its user alone, signed in.'],
  'flow.http.asked': [
    'done',
    'What a program began is asked about in the browser, and nobody answers for it.',
  ],
  'flow.http.callback': ['done', 'A callback always ends in a redirect to a page of ours.'],
  'flow.http.cookie': ['done', 'The cookie of an attempt is for one host, one browser and one attempt.'],
  'flow.http.pages': ['done', 'The result pages are static, strict, and repeat nothing.'],
  'flow.http.import': ['done', 'A token from elsewhere is taken, used, chosen and ended.'],
  'flow.http.reauth': ['done', 'An administrator can ask everybody to sign in again.'],
  'flow.http.audited': ['done', 'What is done about credentials is written down, without any secret.'],
  'flow.http.document': ['done', 'What we publish about ourselves stands where it says.'],
  'flow.url.canonical': ['done', 'An address has one spelling.'],
} as const satisfies Record<string, Requirement>;
