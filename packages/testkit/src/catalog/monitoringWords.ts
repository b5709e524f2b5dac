import type { ServerWords } from './words.ts';

/** What watches over machines, and wakes people. */
export const monitoringWords: readonly ServerWords[] = [
  {
    ...{ name: 'datadog', product: 'Datadog', style: 'snake' },
    verbs: ['list', 'get', 'create', 'update', 'delete', 'search'],
    resources: [
      [
        'monitor',
        'monitors',
        'A rule that alerts when a metric is not as it should be.',
        { name: 'Name', query: 'Query of the metric', thresholds: 'Limits' },
      ],
      ['dashboard', 'dashboards', 'Graphs on one page.', { title: 'Title', widgets: 'Graphs' }],
      [
        'log_index',
        'log_indexes',
        'Where logs are kept, and for how long.',
        { name: 'Name', retention_days: 'Days' },
      ],
      [
        'slo',
        'slos',
        'A goal for how reliable a service is.',
        { name: 'Name', target: 'Percent', timeframe: 'Over: 7d|30d|90d' },
      ],
      [
        'synthetic_test',
        'synthetic_tests',
        'A test that calls a page or an API again and again.',
        { name: 'Name', url: 'Address', locations: 'From where' },
      ],
      [
        'downtime',
        'downtimes',
        'A time in which alerts are silent.',
        { scope: 'For what', start: 'From', end: 'To' },
      ],
      ['host', 'hosts', 'A machine that reports metrics.', { name: 'Name', tags: 'Tags' }],
      ['notebook', 'notebooks', 'Text with live graphs.', { name: 'Name', cells: 'Content' }],
      [
        'service_definition',
        'service_definitions',
        'Who owns a service.',
        { service: 'Name', team: 'Owner' },
      ],
    ],
    specials: [
      [
        'query_metrics',
        'Reads the values of a metric over time.',
        { query: 'The metric with its tags', from: 'From', to: 'To' },
      ],
      [
        'search_logs',
        'Finds log lines of all services by words and fields.',
        { query: 'What', from: 'From', to: 'To', service: 'Of which service' },
      ],
      [
        'list_traces',
        'Finds slow or failed requests with their spans.',
        { service: 'Service', min_duration: 'Slower than', status: 'Status: ok|error' },
      ],
      ['mute_monitor', 'Silences a monitor for a while.', { monitor_id: 'Monitor', end: 'Until' }],
      [
        'post_event',
        'Adds an event, such as a deployment, to the stream.',
        { title: 'Title', text: 'Text', tags: 'Tags' },
      ],
    ],
  },
  {
    ...{ name: 'pagerduty', product: 'PagerDuty', style: 'kebab' },
    verbs: ['list', 'get', 'create', 'update', 'delete'],
    resources: [
      [
        'incident',
        'incidents',
        'Something that is broken and wants an answer.',
        { serviceId: 'Service', title: 'Title', urgency: 'Urgency: high|low' },
      ],
      [
        'service',
        'services',
        'Something that can break.',
        { name: 'Name', escalationPolicyId: 'Who is told' },
      ],
      [
        'schedule',
        'schedules',
        'Who is on call when.',
        { name: 'Name', timeZone: 'Time zone', layers: 'Turns' },
      ],
      [
        'escalation-policy',
        'escalation-policies',
        'Who is told next when nobody answers.',
        { name: 'Name', rules: 'Steps' },
      ],
      ['team', 'teams', 'People who share services.', { name: 'Name', members: 'Members' }],
      [
        'maintenance-window',
        'maintenance-windows',
        'A time in which a service makes no incidents.',
        { serviceIds: 'Services', startTime: 'From', endTime: 'To' },
      ],
      [
        'postmortem',
        'postmortems',
        'What was learned from an incident.',
        { incidentId: 'Incident', timeline: 'What happened when' },
      ],
    ],
    specials: [
      ['acknowledge-incident', 'Says that somebody works on an incident.', { incidentId: 'Incident' }],
      ['resolve-incident', 'Says that an incident is over.', { incidentId: 'Incident', resolution: 'How' }],
      [
        'list-on-calls',
        'Says who is on call at the moment.',
        { scheduleIds: 'Schedules', since: 'From', until: 'To' },
      ],
      [
        'override-schedule',
        'Puts another person on call for a time, for example to swap a shift.',
        { scheduleId: 'Schedule', userId: 'Person', start: 'From', end: 'To' },
      ],
      [
        'add-responders',
        'Asks further people to help with an incident.',
        { incidentId: 'Incident', responderIds: 'People', message: 'Text' },
      ],
    ],
  },
];
