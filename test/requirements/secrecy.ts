import type { Requirement } from '../requirements.ts';

export const secrecy = {
  'replicas.role': [
    'done',
    'A role that is taken down at one replica counts at the others within two seconds.',
  ],
  'replicas.server': ['done', 'A deleted or overridden server is so at every replica within two seconds.'],
  'replicas.sign-out': [
    'done',
    'A sign-out or a deleted key counts at every replica within two seconds, and ends what was open there.',
  ],
  'replicas.acl': ['done', 'A server that is shared no longer is gone at every replica within two seconds.'],
  'replicas.redis-gone': ['done', 'All of this holds without Redis as well.'],
  'secrets.nowhere': [
    'done',
    'No secret appears in an answer, a log line, an audit event or the store, also not encoded.',
  ],
  'secrets.oauth': [
    'done',
    'No token, code, verifier or client secret of a sign-in at a server appears in an answer, a log line, an audit event, a measurement or the store, whoever repeats it.',
  ],
  'strangers.isolated': [
    'done',
    'No sequence of requests by one user reads or changes a server, a value or the sharing of another.',
  ],
  'strangers.alike': ['done', 'A server of somebody else answers on every route as one that does not exist.'],
  'strangers.obo-locked': [
    'done',
    'No sequence of changes by an editor without CONFIGURE_OBO changes where an OBO server leads, or with what.',
  ],
} as const satisfies Record<string, Requirement>;
