import type { Requirement } from '../requirements.ts';

/**
 * What the predecessors of this vault promised or broke, one line for each capability of theirs. Kept by the tests of other
 * promises, which are named.
 */
export const seeds: Record<string, Requirement> = {
  'seed.lock.waiting-room': [
    'done',
    'Sign-ins, sign-outs and removals never stand in line behind a renewal.',
    ['vault.v09.at-once'],
  ],
  'seed.lock.in-use': [
    'done',
    'No lock is held while a credential is used, unless its server asks for that; then it is bounded and kept alive.',
    ['vault.v03.own-token', 'vault.v10.exclusive'],
  ],
  'seed.lock.refresh': [
    'done',
    'Whoever renews reads the record again first: one token is sent once.',
    ['vault.r01.storm', 'vault.r17.peer'],
  ],
  'seed.lock.order': [
    'done',
    'Reading and renewing wait for each other in one order, and never for ever.',
    ['vault.r11.waiter', 'vault.model.nothing-lost'],
  ],
  'seed.lock.ownership': [
    'done',
    'What was lost to another is not released, settled or condemned by who had it before.',
    ['vault.r10.late-loser', 'stores.claims.condition'],
  ],
  'seed.vault.create': [
    'done',
    'A credential exists once for its user, server, kind and label, and asking whether it exists opens nothing.',
    ['stores.credentials.unique', 'stores.credentials.list'],
  ],
  'seed.vault.get': [
    'done',
    'A token is renewed as it is read; one that cannot be renewed is used to its end.',
    ['vault.refresh.one', 'vault.token.no-refresh'],
  ],
  'seed.vault.acquire': [
    'done',
    'Calls use snapshots of a token and hold nothing.',
    ['vault.token.warm', 'vault.v10.exclusive'],
  ],
  'seed.vault.priority': [
    'done',
    'A renewal that finds another generation discards what it got.',
    ['vault.r25.logout', 'vault.r26.relogin'],
  ],
  'seed.vault.cached': [
    'done',
    'What is kept of a token is ended by the notice that it changed.',
    ['vault.token.external', 'vault.v07.import'],
  ],
  'seed.vault.update': [
    'done',
    'Writes are made under a condition on the generation; what is ended is revoked and told.',
    ['stores.credentials.replace', 'vault.disconnect.truth'],
  ],
  'seed.vault.exit': [
    'done',
    'A process that ends finishes its renewals first, within bounds.',
    ['vault.r27.terminated', 'vault.close.drains'],
  ],
  'seed.vault.clients': [
    'done',
    'Clients belong to an issuer and a server; a missing one is the operator’s to mend.',
    ['flow.f13.once', 'vault.client.refused'],
  ],
  'seed.vault.endpoints': [
    'done',
    'Endpoints are stored with the grant; one that is gone is looked up again at the same issuer alone.',
    ['vault.r30.moved', 'vault.endpoints.sealed'],
  ],
  'seed.vault.scopes': [
    'done',
    'Within a generation refreshes keep what was granted, and a step-up asks for all of it and more; a new sign-in may grant less.',
    ['vault.r19.omitted', 'vault.scopes.generation', 'recovery.c03.step-up'],
  ],
  'seed.vault.rows': [
    'done',
    'Each credential is a row of its own, and one that does not open is never removed by the way.',
    ['vault.v04.kept', 'vault.v01.moved'],
  ],
  'seed.vault.names': [
    'done',
    'A server is known by one id, not by a text that is made to fit.',
    ['stores.credentials.round-trip', 'flow.url.canonical'],
  ],
  'seed.vault.optional': [
    'done',
    'Only who never had a credential goes without, and only where that is allowed.',
    ['grants.auth.optional', 'grants.auth.required'],
  ],
  'seed.vault.address': [
    'done',
    'One spelling of an address binds a token; another address is another server.',
    ['flow.url.canonical', 'vault.v02.definition'],
  ],
  'seed.vault.lookup': [
    'done',
    'A credential is looked up exactly; that it failed is told, and nothing else is sent.',
    ['recovery.c15.absent', 'vault.recover.reasons'],
  ],
  'seed.vault.select': [
    'done',
    'The order of credentials is stable and the default one is used; when that is ended, its user is told and what is left is used.',
    ['grants.labels.default', 'grants.labels.removed', 'web.connect.several', 'web.connect.disconnect'],
  ],
  'seed.tools.catalog': [
    'done',
    'Tools are listed for each user; a call that names one that is not known lists them anew.',
    ['catalog.holders.isolated', 'catalog.age.missing-tool'],
  ],
  'seed.tools.schema': [
    'done',
    'A form follows the schema of its tool, within bounds and without remote references.',
    ['web.form.fields', 'arguments.remote-ref'],
  ],
  'seed.tools.missing': [
    'done',
    'Missing inputs are named before any credential is obtained and anything is sent.',
    ['toolcall.order.free', 'arguments.named'],
  ],
  'seed.wire.client': [
    'done',
    'Answers are matched by id, lists followed page by page, bodies and time bounded.',
    ['catalog.pages.followed', 'channel.request.raw'],
  ],
  'seed.wire.streams': [
    'done',
    'JSON and event streams are read as they come, and the answer is the one with the right id.',
    ['rest.call.progress', 'egress.limit.sse-event'],
  ],
  'seed.wire.results': [
    'done',
    'Results are passed on whole; only the chat shapes them.',
    ['rest.call.structured', 'shaping.raw'],
  ],
  'seed.oauth.discovery': [
    'done',
    'Metadata is looked for in a fixed order, with exact issuers and bounds.',
    ['flow.f01.order', 'flow.f03.issuer'],
  ],
  'seed.oauth.pkce': [
    'done',
    'Sign-ins use S256 and a state that is used once, by its user, in time.',
    ['flow.f04.pkce', 'flow.f06.single-use'],
  ],
  'seed.oauth.registration': [
    'done',
    'A client is registered once, for both grants, and no id is guessed.',
    ['flow.f13.once'],
  ],
  'seed.oauth.revoke': [
    'done',
    'What an answer leaves out is carried on, and revocation is told as it went.',
    ['vault.r19.omitted', 'flow.f20.revoked'],
  ],
  'seed.oauth.bodies': [
    'done',
    'What a server or an authorization server says in an error is repeated to nobody.',
    ['flow.callback.secrets', 'toolcall.no-oracle'],
  ],
  'seed.oauth.own-url': [
    'done',
    'Whoever starts a sign-in gets an address of ours, never one of the authorization server.',
    ['flow.http.connect', 'flow.f07.phishing'],
  ],
  'seed.oauth.callback': [
    'done',
    'A new sign-in takes the place of the old one in one step, under the same id.',
    ['flow.f11.failed', 'flow.f12.same-id'],
  ],
  'seed.oauth.manual': [
    'done',
    'A token that somebody brings is kept in the same vault, and never preferred over a grant that lives.',
    ['flow.http.import', 'flow.import.bound'],
  ],
  'seed.oauth.popup': [
    'done',
    'A failure reaches the window that opened the sign-in, with the sign-in it belongs to.',
    ['flow.f10.denied', 'web.connect.denied'],
  ],
  'seed.oauth.fallback': [
    'done',
    'A code that could not be exchanged never turns into a form for a token.',
    ['web.connect.no-form', 'flow.f11.failed'],
  ],
  'seed.net.guard': [
    'done',
    'Every address is judged, those that hide another one too, and no credential crosses to another origin.',
    ['flow.f16.inside', 'flow.f17.redirect', 'egress.address.hidden-v4-refused', 'egress.dns.pinned'],
  ],
  'seed.page.text': [
    'done',
    'What a server says is text, and the page at the end holds none of it.',
    ['flow.http.pages', 'ui.harmless.servers'],
  ],
  'seed.server.title': ['done', 'A name that was given is shown after a reload.', ['ui.servers.edit']],
  'seed.server.shared': [
    'done',
    'Sharing a server shares no grant.',
    ['vault.v03.own-token', 'flow.f07.phishing'],
  ],
  'seed.chat.forbidden': [
    'done',
    'A refusal by a server destroys no credential, a 403 least of all.',
    ['recovery.c05.forbidden', 'recovery.c02.audience'],
  ],
  'seed.chat.absence': [
    'done',
    'That there is no credential and that a renewal failed are different things.',
    ['vault.token.absent', 'vault.recover.transient'],
  ],
  'seed.manager.one': [
    'done',
    'There is one vault for each composition, and no global.',
    ['vault.composed.one'],
  ],
  'seed.manager.address': [
    'done',
    'A token that was given for one address is not used at another.',
    ['vault.v02.definition', 'flow.context.unbound'],
  ],
  'seed.manager.watch': [
    'done',
    'A change from outside is seen without a look at the store for each call.',
    ['vault.token.warm', 'vault.token.external'],
  ],
  'seed.manager.external': [
    'done',
    'A token that another process stored is in use within two seconds.',
    ['vault.v07.import', 'vault.r04.compare'],
  ],
  'seed.manager.refused': [
    'done',
    'Refusals of one token share one recovery.',
    ['vault.r03.refused-once', 'vault.recover.joined'],
  ],
  'seed.manager.decides': [
    'done',
    'A recovery that says yes has another token in hand.',
    ['vault.recover.hopeless', 'recovery.c01.retry'],
  ],
  'seed.manager.reconnect': [
    'done',
    'A retry goes over the session that took the place of the old one; a shutdown comes first.',
    ['recovery.c16.snapshot', 'recovery.c14.shutdown'],
  ],
  'seed.manager.once': [
    'done',
    'One recovery and one retry for each request.',
    ['recovery.c02.audience', 'recovery.c01.retry'],
  ],
  'seed.manager.told': [
    'done',
    'That a user must act is told in a form that programs read, with the way there.',
    ['recovery.c15.absent', 'rest.sign-in.shape'],
  ],
  'seed.manager.classes': [
    'done',
    'What went wrong is decided by status and challenge, never by words.',
    ['recovery.c09.text', 'toolcall.failure-classes'],
  ],
  'seed.manager.everything': [
    'done',
    'Resources, prompts and lists recover as tools do.',
    ['recovery.c10.everything'],
  ],
  'seed.manager.background': [
    'done',
    'What runs in the background never begins a sign-in.',
    ['recovery.c12.background', 'flow.start.people'],
  ],
  'seed.manager.callback': [
    'done',
    'There is one public callback, a client document, and a registry of clients.',
    ['flow.http.callback', 'flow.f14.document'],
  ],
  'seed.manager.remove': [
    'done',
    'Removing a credential revokes it and closes what was open with it, on every replica.',
    ['vault.disconnect.truth', 'flow.f20.revoked', 'grants.followed.scene'],
  ],
  'seed.cli.commands': [
    'done',
    'Servers are added after a look, listed, tested, also for somebody else without acting for them, and removed; no secret is shown.',
    ['cli.add.remove', 'cli.add.oauth', 'cli.test.server', 'diagnose.others.admins', 'cli.secrecy.tokens'],
  ],
  'seed.cli.login': [
    'done',
    'A failed sign-in leaves the old one working.',
    ['cli.login.survives', 'flow.f11.failed'],
  ],
  'seed.cli.landed': [
    'done',
    'Success is told when the token is stored and the server took it, or that this cannot be verified.',
    ['cli.login.landed', 'flow.f19.unverified'],
  ],
  'seed.cli.reauth': [
    'done',
    'Everybody can be asked to sign in again without losing what works until then.',
    ['cli.reauth.all', 'flow.http.reauth'],
  ],
  'seed.later.record': [
    'done',
    'Ends are absolute, and endpoints, issuer and scopes are in the record from the first day.',
    ['vault.r20.lifetimes', 'vault.r19.omitted'],
  ],
  'seed.later.peer': [
    'done',
    'What a peer renewed is adopted, and nobody renews without the claim.',
    ['vault.r17.peer', 'stores.claims.one-holder'],
  ],
  'seed.later.client': [
    'done',
    'A client that was forgotten is registered once more, and nothing else is thrown away.',
    ['vault.client.dynamic', 'flow.f13.once'],
  ],
  'seed.later.breaker': [
    'done',
    'There is a breaker for the road and one for a user’s credential; errors of tools count for neither.',
    ['connections.breaker.credential', 'recovery.c11.breaker'],
  ],
  'seed.later.redaction': [
    'done',
    'Secrets of a request are taken out of everything that is told about it.',
    ['vault.secrets.nowhere', 'vault.v06.secrets'],
  ],
};
