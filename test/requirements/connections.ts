import type { Requirement } from '../requirements.ts';

export const connections = {
  'connections.shared.one': ['done', 'A shared server has one connection, whoever asks at once.'],
  'connections.shared.no-user': [
    'done',
    'Nothing of a user can reach a shared connection: it does not compile.',
  ],
  'connections.shared.reopened': ['done', 'A shared connection that ended or failed is opened anew.'],
  'connections.shared.close': [
    'done',
    'A shutdown leaves no shared connection behind, not even a half-open one.',
  ],
  'connections.shared.replaced': [
    'done',
    'While a call still uses a replaced shared connection, a further replacement is refused.',
  ],
  'connections.shared.children': ['done', 'At most four child processes run for one shared server.'],
  'connections.shared.update': [
    'done',
    'A reload keeps the connections of servers that did not change, and cuts no call under way.',
  ],
  'connections.opening.detached': [
    'done',
    'Who stops waiting for a connection stops nobody else, also when they asked first.',
  ],
  'connections.user.own': ['done', 'No two users share a session, also when they present the same key.'],
  'connections.user.binding': ['done', 'A new grant never uses the session of the old one, which ends.'],
  'connections.user.update': ['done', "A changed definition replaces users' sessions and cuts no call."],
  'connections.stateless.one': [
    'done',
    'A server that keeps no session is opened once for all users, and idle users cost nothing.',
  ],
  'connections.stateless.apart': [
    'done',
    'Addresses, trust tiers, proxies and revisions do not share a stateless connection.',
  ],
  'connections.stateless.claims': [
    'done',
    'A connection that carries a user inside is never shared, whatever the server claims to be.',
  ],
  'connections.stateless.instructions': [
    'done',
    'What a server without sessions tells the user who came first is told to nobody else.',
  ],
  'connections.stateless.legacy': [
    'done',
    'Whether a server keeps sessions is found out by its first user, whose failure is nobody else’s.',
  ],
  'connections.stateless.bounded': ['done', 'Stateless connections are capped, expire and follow reloads.'],
  'connections.force.waits': [
    'done',
    'A forced replacement and an ordinary opening wait for each other, and a failed one harms nothing.',
  ],
  'connections.force.order': ['done', 'Forced replacements happen one at a time, in the order of asking.'],
  'connections.cap.lru': ['done', 'At its cap a pool closes the least recently used idle connection.'],
  'connections.cap.borrowed': [
    'done',
    'A connection in use is never evicted; when all are, a further one is refused.',
  ],
  'connections.idle.closed': [
    'done',
    "A user's idle session is closed after 15 minutes without any traffic.",
  ],
  'connections.idle.shared': ['done', 'Shared connections of configured servers do not expire.'],
  'connections.request.scope': [
    'done',
    'A server that reads the request has a connection per request, closed with its last use.',
  ],
  'connections.lost.reopened': ['done', "A user's session that was lost is opened anew."],
  'connections.lost.survives': ['done', 'A failed call does not cost its session.'],
  'connections.connect.attempts': [
    'done',
    'Connecting is tried twice at most, within one time limit, and only when nothing got through.',
  ],
  'connections.breaker.opens': [
    'done',
    'Three transport failures in a row park a server at that address for 30 seconds.',
  ],
  'connections.breaker.innocent': [
    'done',
    'Answers, slow tools, refusals and one user’s own child process park a server for nobody else.',
  ],
  'connections.breaker.answered': [
    'done',
    'A server that answers a handshake with a 5xx is parked for nobody: one user’s key may have provoked it.',
  ],
  'connections.breaker.hung-up': [
    'done',
    'A server that hangs up during a call is parked for nobody; during a handshake it counts as unreachable.',
  ],
  'connections.breaker.impatient': [
    'done',
    'Who stops waiting for a connection ends neither the opening nor its time limit, and parks nothing.',
  ],
  'connections.target.unreadable': [
    'done',
    'An address that cannot be read fails by itself, before anything is opened or parked.',
  ],
  'connections.breaker.half-open': ['done', 'A parked server is tried by exactly one caller at a time.'],
  'connections.breaker.backoff': ['done', 'Each failed trial doubles the wait, up to five minutes.'],
  'connections.breaker.explicit': [
    'done',
    'An explicit retry passes the breaker for that user and never prolongs the wait of others.',
  ],
  'connections.breaker.many-users': [
    'done',
    'Any number of users may connect to a healthy server at the same time.',
  ],
  'connections.breaker.credential': [
    'done',
    'A user whose credential is refused three times waits alone, until the grant is a new one.',
  ],
  'connections.park.probed': ['done', 'A parked shared server comes back without traffic.'],
  'connections.park.stops': [
    'done',
    'Only configured shared servers are tried in the background, and only while they are configured.',
  ],
  'connections.drop.holder': ['done', "A user's sessions at one server can be ended without cutting a call."],
  'connections.drop.principal': ['done', "A logout ends that user's sessions, half-open ones included."],
  'connections.memory.bounded': ['done', 'What is remembered of failures expires and is capped.'],
  'connections.state.lost': ['done', 'An open connection behind which nobody answers is told as failed.'],
  'connections.state.told': ['done', 'The state of a connection is told to the user it belongs to.'],
  'connections.close.everything': ['done', 'A shutdown closes every connection exactly once.'],
  'connections.close.bounded': ['done', 'A connection that does not close is waited for five seconds.'],
  'connections.model.holds': [
    'done',
    'In any order of events sessions stay with their users, caps hold, and what was opened is closed once.',
  ],
} as const satisfies Record<string, Requirement>;
