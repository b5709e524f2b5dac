import type { Requirement } from '../requirements.ts';

export const audit = {
  'kernel.mac.keys': [
    'done',
    'The first key makes a MAC, all keys verify one, and an unknown key is told apart.',
  ],
  'kernel.mac.context': ['done', 'A MAC holds for its text in its very context and nowhere else.'],
  'kernel.mac.tamper': ['done', 'A MAC that was changed in any bit is none.'],
  'audit.log.order': ['done', 'Audit events are kept in their order, each with its time and an id.'],
  'audit.log.flush': ['done', 'Noted events are written together, after a second or a thousand of them.'],
  'audit.log.bounded': [
    'done',
    'A full buffer lets nothing begin that must be audited, and counts what is lost, per tenant and minute.',
  ],
  'audit.log.retry': [
    'done',
    'A segment is written once, however often the store fails or an answer is lost.',
  ],
  'audit.log.close': ['done', 'What waits is written at the end, within five seconds.'],
  'audit.record.durable': [
    'done',
    'A recorded event is in the store when it is acknowledged; without the store it fails within five seconds.',
  ],
  'audit.event.fields': [
    'done',
    'Only the listed fields of an event are written or shown, short and on one line.',
  ],
  'audit.chain.genuine': ['done', 'The chains of several writers at once verify.'],
  'audit.chain.changed': ['done', 'A change of anything in a segment shows, its place included.'],
  'audit.chain.gap': ['done', 'A segment that is gone shows: in the middle, at a start, at a running end.'],
  'audit.chain.keys': ['done', 'A chain verifies across a change of the key while both keys are there.'],
  'audit.retention': ['done', 'Old events go after the retention, and what is kept still verifies.'],
  'audit.read.filters': ['done', 'Events are found by all filters that are given.'],
  'audit.read.tenant': ['done', 'Nobody reads the audit events of another tenant, paged or exported.'],
  'audit.read.cursor': [
    'done',
    'Page after page everything is seen once, and each page costs a bounded read.',
  ],
  'audit.read.unreadable': ['done', 'A line that was spoilt in the store is marked and hides no other.'],
  'audit.export.streams': ['done', 'An export reads no more than is taken from it.'],
  'audit.rest.query': ['done', 'GET /api/admin/audit answers pages by filters and refuses wrong ones.'],
  'audit.rest.export': [
    'done',
    'GET /api/admin/audit/export streams JSON lines and stops when the caller leaves.',
  ],
  'audit.rest.verify': ['done', 'GET /api/admin/audit/verify reports what is wrong, reading once for all.'],
} as const satisfies Record<string, Requirement>;
