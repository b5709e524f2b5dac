import type { Requirement } from '../requirements.ts';

export const live = {
  'live.admin-only': [
    'done',
    'Connections and numbers are for administrators, and the configuration for those of the whole gateway.',
  ],
  'live.connections.described': [
    'done',
    'What is open to a server and what fails there is told in numbers and codes, and nothing is opened for it.',
  ],
  'live.connections.tenant': [
    'done',
    'An administrator sees neither connections nor requests nor failures nor servers of users of another tenant.',
  ],
  'live.since': [
    'done',
    'Since when a server cannot be reached is the time of the first failure that no success has followed.',
  ],
  'live.stats.buckets': [
    'done',
    'Calls and errors of the last hour and day are in the minute or quarter of an hour in which they ended.',
  ],
  'live.stats.quantiles': ['done', 'Durations are estimated within the bucket of the true value.'],
  'live.stats.bounded': [
    'done',
    'Numbers of any number of servers and tenants need a fixed amount of memory.',
  ],
  'live.stats.tenant': ['done', 'An administrator sees no call of another tenant.'],
  'live.stats.operator': [
    'done',
    'What is counted for all tenants together is told to administrators of the whole gateway alone.',
  ],
  'live.config.redacted': [
    'done',
    'The configuration is shown without a secret, under whatever key it stands.',
  ],
  'live.config.environment': [
    'done',
    'The environment is shown without a secret; of the address of a store as much as tells where it is.',
  ],
  'live.user.own': ['done', 'Who is signed in reads what their own role allows now.'],
} as const satisfies Record<string, Requirement>;
