import type { Requirement } from '../requirements.ts';

export const oboExchanger = {
  'obo.key.separates': [
    'done',
    'An exchanged token is kept apart by user, tenant, role, server, revision, author, provider, client, subject token, audience, resource, scopes and claims.',
  ],
  'obo.key.no-collision': ['done', 'No two different wishes for a token share a key, whatever they contain.'],
  'obo.key.scopes-set': ['done', 'The order and doubles of scopes make no other token.'],
  'obo.flight.one-per-key': ['done', 'Any number of cold calls of one user make one token request.'],
  'obo.flight.one-across-replicas': [
    'done',
    'Any number of cold calls in several processes make one token request.',
  ],
  'obo.flight.apart': ['done', 'Nobody joins another user’s exchange.'],
  'obo.flight.abort-one': ['done', 'Who stops waiting for an exchange is released alone.'],
  'obo.flight.abort-all': ['done', 'An exchange goes on when nobody waits for it any more.'],
  'obo.flight.failure-shared-once': [
    'done',
    'A failed exchange is shared by those who joined it and leaves nothing behind.',
  ],
  'obo.flight.force-apart': [
    'done',
    'A forced exchange is joined by forced ones alone, and replaces what is kept.',
  ],
  'obo.flight.newest-kept': ['done', 'A token that was asked for earlier does not replace a later one.'],
  'obo.expiry.skew': [
    'done',
    'An exchanged token is used until a minute, or a tenth of its life, before its end.',
  ],
  'obo.expiry.subject': [
    'done',
    'No exchanged token is used beyond the end of the token it was exchanged for.',
  ],
  'obo.expiry.short': ['done', 'A token with less than five seconds left is used once and not kept.'],
  'obo.expiry.no-token': ['done', 'An answer without a token is neither given out nor kept.'],
  'obo.expiry.memory-bounded': [
    'done',
    'Memory holds a bounded number of exchanged tokens, and none that is over.',
  ],
  'obo.cache.sealed': ['done', 'Exchanged tokens are sealed in the cache, each to its own key.'],
  'obo.cache.unreadable': ['done', 'A kept token that does not open is dropped, logged and exchanged anew.'],
  'obo.cache.outage': ['done', 'A cache that fails or hangs costs a moment and no call.'],
  'obo.turn.outage': ['done', 'Without leases exchanges go on, with at most one request more.'],
  'obo.turn.late-lease': ['done', 'A lease that comes too late is given back.'],
  'obo.turn.wait': [
    'done',
    'Another process’s exchange is waited for, while it is under way and not for ever.',
  ],
  'obo.turn.released': ['done', 'A turn ends with its exchange, after what it brought was left for others.'],
  'obo.retry.once': ['done', 'A token request that may pass is repeated exactly once, after a moment.'],
  'obo.retry.budget': ['done', 'No caller makes more token requests than it may.'],
  'obo.retry.only-what-passes': ['done', 'A token request that was refused is not repeated.'],
  'obo.retry.retry-after': [
    'done',
    'A provider that asks for up to five seconds gets them; later is told the caller.',
  ],
  'obo.retry.hang': ['done', 'A token request that hangs ends after ten seconds.'],
  'obo.fault.remembered': ['done', 'A refusal is answered from memory for its time, with all it said.'],
  'obo.fault.new-subject': [
    'done',
    'A refusal of one token says nothing of the user’s next one, nor of other users.',
  ],
  'obo.fault.misconfigured': ['done', 'A wrong set-up is known for all its users and for no other set-up.'],
  'obo.fault.throttled-alone': ['done', 'One user who is throttled stops nobody else.'],
  'obo.record.once': ['done', 'Every exchange is told of once, with how it ended and what was granted.'],
  'obo.backoff.opens': ['done', 'A token endpoint that keeps failing is left alone, and no other is.'],
  'obo.backoff.probe': [
    'done',
    'An endpoint that is left alone is tried by one at a time, ever later, until it answers.',
  ],
  'obo.backoff.burst': ['done', 'Exchanges that fail together count as one outage.'],
  'obo.backoff.throttled': [
    'done',
    'An endpoint that throttles several users is left alone for what it asked and no longer.',
  ],
  'obo.evict.token': ['done', 'A refused token is forgotten, and one that took its place is not.'],
  'obo.evict.holder': ['done', 'All tokens of a user or a server are forgotten together, and nobody else’s.'],
  'obo.evict.in-flight': [
    'done',
    'An exchange that began before its user or server was forgotten is kept nowhere and serves nobody later.',
  ],
  'obo.close.waits': ['done', 'Closing waits for exchanges under way, not for ever, and begins none.'],
} as const satisfies Record<string, Requirement>;
