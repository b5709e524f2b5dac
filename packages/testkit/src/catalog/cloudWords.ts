import type { ServerWords } from './largeCatalog.ts';

const regionField = { region: 'Region, such as eu-central-1' };

/** Machines and data. */
export const cloudWords: readonly ServerWords[] = [
  {
    ...{ name: 'aws', product: 'AWS', style: 'kebab' },
    verbs: ['list', 'describe', 'create', 'update', 'delete'],
    resources: [
      [
        'instance',
        'instances',
        'A virtual machine of EC2.',
        { ...regionField, instanceId: 'Machine', instanceType: 'Size', imageId: 'Image' },
      ],
      [
        'bucket',
        'buckets',
        'A place for objects in S3.',
        { ...regionField, bucket: 'Name', versioning: 'Whether old objects are kept' },
      ],
      [
        'function',
        'functions',
        'Code that runs on events, in Lambda.',
        { ...regionField, functionName: 'Name', runtime: 'Language', memorySize: 'Memory in MB' },
      ],
      [
        'db-instance',
        'db-instances',
        'A relational database of RDS.',
        {
          ...regionField,
          dbInstanceIdentifier: 'Name',
          engine: 'Engine: postgres|mysql|mariadb',
          storage: 'Disk in GB',
        },
      ],
      [
        'security-group',
        'security-groups',
        'Rules of a firewall for machines.',
        { ...regionField, groupId: 'Group', ingress: 'What comes in', egress: 'What goes out' },
      ],
      [
        'load-balancer',
        'load-balancers',
        'Spreads requests over machines.',
        { ...regionField, name: 'Name', scheme: 'Scheme: internet-facing|internal' },
      ],
      [
        'queue',
        'queues',
        'A queue of messages in SQS.',
        { ...regionField, queueName: 'Name', visibilityTimeout: 'Seconds' },
      ],
      [
        'topic',
        'topics',
        'A topic of notifications in SNS.',
        { ...regionField, name: 'Name', subscriptions: 'Who is told' },
      ],
      [
        'role',
        'roles',
        'A role of IAM with its policies.',
        { roleName: 'Name', assumeRolePolicy: 'Who may take it' },
      ],
      [
        'secret',
        'secrets',
        'A password or key in Secrets Manager.',
        { ...regionField, secretId: 'Name', rotation: 'How often it changes' },
      ],
      [
        'cluster',
        'clusters',
        'A Kubernetes cluster of EKS.',
        { ...regionField, name: 'Name', version: 'Version of Kubernetes' },
      ],
      [
        'hosted-zone',
        'hosted-zones',
        'DNS records of a domain in Route 53.',
        { name: 'Domain', privateZone: 'Whether only inside' },
      ],
      [
        'alarm',
        'alarms',
        'An alarm on a metric of CloudWatch.',
        { ...regionField, alarmName: 'Name', metricName: 'Metric', threshold: 'Limit' },
      ],
      [
        'stack',
        'stacks',
        'Resources of a CloudFormation template.',
        { ...regionField, stackName: 'Name', templateUrl: 'Template' },
      ],
    ],
    specials: [
      ['start-instances', 'Turns virtual machines on.', { ...regionField, instanceIds: 'Machines' }],
      ['stop-instances', 'Shuts virtual machines down.', { ...regionField, instanceIds: 'Machines' }],
      ['reboot-instances', 'Restarts virtual machines.', { ...regionField, instanceIds: 'Machines' }],
      [
        'get-cost-and-usage',
        'Shows what the account spent, by service and time.',
        { timePeriod: 'From and to', granularity: 'By: DAILY|MONTHLY', groupBy: 'By what' },
      ],
      ['put-object', 'Uploads an object to a bucket.', { bucket: 'Bucket', key: 'Path', body: 'Content' }],
      ['get-object', 'Downloads an object of a bucket.', { bucket: 'Bucket', key: 'Path' }],
      [
        'invoke-function',
        'Runs a Lambda function and gives its answer.',
        { ...regionField, functionName: 'Function', payload: 'Input' },
      ],
      [
        'tail-log-group',
        'Reads the newest lines of a log group of CloudWatch.',
        { ...regionField, logGroupName: 'Log group', filterPattern: 'Only lines like this' },
      ],
      [
        'create-db-snapshot',
        'Makes a backup of a relational database.',
        { ...regionField, dbInstanceIdentifier: 'Database', snapshotName: 'Name' },
      ],
      [
        'change-record-set',
        'Changes DNS records of a hosted zone.',
        { hostedZoneId: 'Zone', name: 'Name', type: 'Type: A|AAAA|CNAME|MX|TXT', value: 'Value' },
      ],
    ],
  },
  {
    ...{ name: 'gcp', product: 'Google Cloud', style: 'camel' },
    verbs: ['list', 'get', 'create', 'update', 'delete'],
    resources: [
      [
        'instance',
        'instances',
        'A virtual machine of Compute Engine.',
        { project: 'Project', zone: 'Zone', machineType: 'Size' },
      ],
      [
        'bucket',
        'buckets',
        'A place for objects in Cloud Storage.',
        { project: 'Project', name: 'Name', location: 'Location' },
      ],
      [
        'cloudFunction',
        'cloudFunctions',
        'Code that runs on events.',
        { project: 'Project', name: 'Name', runtime: 'Language' },
      ],
      [
        'sqlInstance',
        'sqlInstances',
        'A relational database of Cloud SQL.',
        { project: 'Project', name: 'Name', tier: 'Size' },
      ],
      [
        'firewallRule',
        'firewallRules',
        'What may come into a network.',
        { project: 'Project', direction: 'Direction: INGRESS|EGRESS', allowed: 'Ports' },
      ],
      [
        'gkeCluster',
        'gkeClusters',
        'A Kubernetes cluster.',
        { project: 'Project', location: 'Location', nodeCount: 'How many machines' },
      ],
      ['pubsubTopic', 'pubsubTopics', 'A topic of messages.', { project: 'Project', topic: 'Name' }],
      [
        'serviceAccount',
        'serviceAccounts',
        'An identity for programs.',
        { project: 'Project', accountId: 'Name' },
      ],
      [
        'dataset',
        'datasets',
        'Tables of BigQuery.',
        { project: 'Project', datasetId: 'Name', location: 'Location' },
      ],
      [
        'cloudRunService',
        'cloudRunServices',
        'A container that serves requests.',
        { project: 'Project', service: 'Name', image: 'Image' },
      ],
      ['secret', 'secrets', 'A password or key in Secret Manager.', { project: 'Project', secretId: 'Name' }],
      [
        'alertPolicy',
        'alertPolicies',
        'When Cloud Monitoring tells somebody.',
        { project: 'Project', displayName: 'Name', conditions: 'When' },
      ],
    ],
    specials: [
      [
        'runBigQueryJob',
        'Runs a SQL query over tables of BigQuery.',
        { project: 'Project', query: 'The query', dryRun: 'Only say what it would cost' },
      ],
      [
        'resizeNodePool',
        'Changes how many machines a Kubernetes cluster has.',
        { cluster: 'Cluster', nodePool: 'Pool', size: 'How many' },
      ],
      [
        'readLogEntries',
        'Finds entries of Cloud Logging.',
        { project: 'Project', filter: 'Which', orderBy: 'Order' },
      ],
      [
        'addIamBinding',
        'Gives somebody a role on a project.',
        { project: 'Project', member: 'Who', role: 'Role' },
      ],
    ],
  },
  {
    ...{ name: 'postgres', product: 'PostgreSQL', style: 'snake' },
    verbs: ['list', 'describe', 'create', 'update', 'delete'],
    resources: [
      [
        'table',
        'tables',
        'A table of a schema.',
        { schema: 'Schema', table: 'Name', columns: 'Columns with their types' },
      ],
      ['view', 'views', 'A query with a name.', { schema: 'Schema', view: 'Name', definition: 'The query' }],
      [
        'index',
        'indexes',
        'What makes queries on columns fast.',
        { table: 'Table', columns: 'Columns', unique: 'Whether values are unique' },
      ],
      ['schema', 'schemas', 'A namespace of a database.', { schema: 'Name', owner: 'Owner' }],
      [
        'database_role',
        'database_roles',
        'Who may connect and do what.',
        { role: 'Name', privileges: 'What' },
      ],
      ['extension', 'extensions', 'An addition to the database.', { extension: 'Name', version: 'Version' }],
      [
        'stored_function',
        'stored_functions',
        'A function inside of the database.',
        { function: 'Name', language: 'Language', body: 'Text' },
      ],
    ],
    specials: [
      [
        'execute_sql',
        'Runs a SQL statement and gives its rows.',
        { sql: 'The statement', params: 'Values', readOnly: 'Whether it may only read' },
      ],
      [
        'explain_query',
        'Shows how the database would run a query, and why it is slow.',
        { sql: 'The query', analyze: 'Whether to run it' },
      ],
      ['list_locks', 'Shows which sessions wait for which others.', { database: 'Database' }],
      ['terminate_backend', 'Ends a session of the database by its process id.', { pid: 'Process' }],
      [
        'vacuum_table',
        'Cleans up a table and its statistics.',
        { table: 'Table', full: 'Whether to rewrite it' },
      ],
      [
        'dump_database',
        'Writes a backup of a database to a file.',
        { database: 'Database', format: 'Format: plain|custom|directory' },
      ],
    ],
  },
];

/** Monitoring and on-call. */
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
