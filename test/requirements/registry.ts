import type { Requirement } from '../requirements.ts';

export const registry = {
  'registry.scope.shared': ['done', 'A server that needs nothing of a user is shared by all of them.'],
  'registry.scope.user': [
    'done',
    'A server that a user stored, or that needs OAuth, OBO, variables or any placeholder, is never shared.',
  ],
  'registry.scope.request': ['done', 'A server that names fields of the request serves one request alone.'],
  'registry.target.values': ['done', 'Values arrive at a server byte for byte, $$ and $& included.'],
  'registry.target.unresolved': [
    'done',
    'Without a value for every placeholder there is no target; field and placeholder are named.',
  ],
  'registry.target.header-values': [
    'done',
    'No control character reaches a header, whether of a user, the file or the environment.',
  ],
  'registry.target.api-key': ['done', 'A configured or entered key becomes the header it was declared for.'],
  'registry.target.arguments': [
    'done',
    'A user’s value stays one argument of a process and never becomes an option of it.',
  ],
  'registry.target.environment': [
    'done',
    'A child process gets PATH, HOME, LANG, LC_ALL and TZ of our environment and nothing else; the sample nothing.',
  ],
  'registry.layers.snapshots': ['done', 'Servers are frozen snapshots; an update replaces them as a whole.'],
  'registry.layers.tenants': ['done', 'A stored server exists in its own tenant alone.'],
  'registry.layers.precedence': [
    'done',
    'A server of the file beats a stored one of the same or the same normalised name, with a warning.',
  ],
  'registry.layers.administrator': [
    'done',
    'A stored server never takes the name of an administrator’s, even if that one cannot be offered.',
  ],
  'registry.sign-in.transports': ['done', 'Nobody signs in where no request could carry a token.'],
  'registry.stored.trust-tier': [
    'done',
    'A stored definition with a process, ${...}, a trusted placeholder or an operator’s field is not offered.',
  ],
  'registry.stored.sealed': [
    'done',
    'A stored definition is sealed to its tenant and id; one that does not open hides no other.',
  ],
  'registry.stored.checked': ['done', 'A definition that the tier refuses is never stored.'],
  'registry.stored.change': [
    'done',
    'Stored servers change by version, keep names unique, and take users’ values along when removed.',
  ],
  'registry.stored.secured': [
    'done',
    'A stored server knows who last decided where its calls lead, and whether that is still what it says.',
  ],
  'registry.layers.origin': [
    'done',
    'Of every server it is known what was written, before it was filled in.',
  ],
  'registry.layers.reserved': [
    'done',
    'Names of the file and of overrides are known as taken, offered or not, in every spelling.',
  ],
  'registry.override.tried': ['done', 'An override can be judged as a whole before it counts.'],
  'registry.stored.follow': [
    'done',
    'Stored servers are at most two seconds old, and end after half a minute without the store.',
  ],
  'registry.override.merge': [
    'done',
    'An administrator’s override is merged over the definition of the file.',
  ],
  'registry.override.apart': [
    'done',
    'An override holds in its tenant alone and never shares a connection with its base.',
  ],
  'registry.override.limits': ['done', 'An override never replaces or starts a process.'],
  'registry.override.failed': [
    'done',
    'An override of texts, time limits or the era that is wrong or fails never hides a healthy base.',
  ],
  'registry.override.fail-closed': [
    'done',
    'Any other override that is wrong or fails never gives way to its base, which may allow more.',
  ],
  'registry.snapshot.revision': [
    'done',
    'The revision of a server changes with whatever a connection depends on, and with nothing else.',
  ],
  'registry.snapshot.policy': [
    'done',
    'A change of the rules about addresses ends the websocket and sse connections opened under the old ones.',
  ],
  'registry.offer.fail-closed': [
    'done',
    'A server that asks for a restriction this gateway does not enforce is not offered.',
  ],
  'registry.tools.filter': [
    'done',
    'The tools of a server are those its definition includes and does not exclude.',
  ],
  'registry.inspection.isolated': [
    'done',
    'A server that fails or hangs during inspection leaves the others alone and is given 30 s.',
  ],
  'registry.inspection.bounded': ['done', 'At most eight servers are inspected at once.'],
  'registry.inspection.skips': ['done', 'A server that needs a user is not inspected.'],
  'registry.inspection.retry': ['done', 'A failed inspection is repeated, from 30 s up to 5 min apart.'],
  'registry.inspection.override': ['done', 'A failed override is remembered for five minutes.'],
  'registry.inspection.update': [
    'done',
    'A changed server is inspected anew, one that is gone is forgotten.',
  ],
  'registry.inspection.reinspect': [
    'done',
    'A failed server is inspected on demand; for a healthy or unknown one that is an error.',
  ],
  'registry.inspection.explicit': [
    'done',
    'An inspection on request passes an open breaker; one in the background does not.',
  ],
  'registry.inspection.undisturbed': [
    'done',
    'Inspections on request never put off the next one in the background.',
  ],
  'credentials.obtain.values': ['done', 'A user presents their own values to a server and nobody else’s.'],
  'credentials.obtain.audience': ['done', 'An address that a user chose meets the stricter policy.'],
  'credentials.obtain.unresolved': [
    'done',
    'A placeholder without a usable value fails the call by name, and nothing is sent.',
  ],
  'credentials.obtain.sign-in': ['done', 'A server that needs a sign-in says so and gets nothing.'],
  'credentials.obtain.binding': [
    'done',
    'Two credentials have one binding only for the same user, definition and values.',
  ],
  'credentials.obtain.warm': ['done', 'A warm call reads, opens and renders no credential.'],
  'credentials.variables.missing': ['done', 'Declared variables that are unset or blank are named.'],
  'credentials.variables.declared-only': [
    'done',
    'A value stored under a name the server does not declare is never used.',
  ],
  'credentials.variables.undeclared': ['done', 'Storing an undeclared or reserved name is refused.'],
  'credentials.variables.flags': ['done', 'Users see which of their variables are set, and no value.'],
  'credentials.variables.sealed': [
    'done',
    'A variable opens only for its own tenant, user, server and name, and never in clear.',
  ],
  'credentials.variables.fresh': ['done', 'A changed variable counts within two seconds everywhere.'],
  'credentials.variables.outage': [
    'done',
    'Without the store, calls with known variables run on for half a minute.',
  ],
  'credentials.variables.bounded': ['done', 'The memory for users’ variables is bounded.'],
} as const satisfies Record<string, Requirement>;
