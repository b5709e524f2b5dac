import { businessWords } from './businessWords.ts';
import { cloudWords, monitoringWords } from './cloudWords.ts';
import { codeWords } from './codeWords.ts';
import { communicationWords } from './communicationWords.ts';

/** A resource: its name, its description and its fields. `a|b` at the end of a text lists allowed values. */
export type ResourceWords = readonly [
  one: string,
  many: string,
  about: string,
  fields: Readonly<Record<string, string>>,
];

/** The operations on a resource. Each server has some of them, with its own naming style. */
export type Verb =
  | 'list'
  | 'get'
  | 'create'
  | 'update'
  | 'delete'
  | 'search'
  | 'count'
  | 'archive'
  | 'export'
  | 'share'
  | 'describe';

/** A tool outside the scheme: name, description and parameters. */
export type SpecialTool = readonly [name: string, does: string, fields: Readonly<Record<string, string>>];

export interface ServerWords {
  readonly name: string;
  readonly product: string;
  readonly style: 'snake' | 'camel' | 'kebab';
  readonly verbs: readonly Verb[];
  readonly resources: readonly ResourceWords[];
  readonly specials: readonly SpecialTool[];
}

export interface CatalogFixtureTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, boolean>>;
}

export interface CatalogFixtureServer {
  readonly name: string;
  readonly tools: readonly CatalogFixtureTool[];
}

type Fields = Readonly<Record<string, string>>;

interface VerbTemplate {
  /** Whether the tool name uses the singular or the plural. */
  readonly noun: 'one' | 'many';
  readonly describe: (one: string, many: string, product: string) => string;
  /** Which fields of the resource the tool takes, in addition to others. */
  readonly ownFields: 'all' | 'key' | 'none';
  readonly extraFields: Fields;
}

const paging: Fields = { limit: 'How many at most', cursor: 'Where to go on' };

const verbTemplates: Readonly<Record<Verb, VerbTemplate>> = {
  list: {
    noun: 'many',
    describe: (_, many, product) => `Lists ${many} of ${product}.`,
    ownFields: 'none',
    extraFields: { ...paging, sort: 'Order: created|updated' },
  },
  get: {
    noun: 'one',
    describe: (one, _, product) => `Gets one ${one} of ${product} with all its details.`,
    ownFields: 'none',
    extraFields: { id: 'Id' },
  },
  describe: {
    noun: 'one',
    describe: (one, _, product) => `Describes one ${one} of ${product} with its settings and state.`,
    ownFields: 'key',
    extraFields: {},
  },
  create: {
    noun: 'one',
    describe: (one, _, product) => `Creates a new ${one} in ${product}.`,
    ownFields: 'all',
    extraFields: {},
  },
  update: {
    noun: 'one',
    describe: (one, _, product) => `Changes an existing ${one} in ${product}.`,
    ownFields: 'all',
    extraFields: { id: 'Id' },
  },
  delete: {
    noun: 'one',
    describe: (one, _, product) => `Deletes a ${one} from ${product} for good.`,
    ownFields: 'none',
    extraFields: { id: 'Id' },
  },
  search: {
    noun: 'many',
    describe: (_, many, product) => `Searches ${many} of ${product} by words and fields.`,
    ownFields: 'none',
    extraFields: { query: 'What to look for', ...paging },
  },
  count: {
    noun: 'many',
    describe: (_, many, product) => `Counts ${many} of ${product} by a filter.`,
    ownFields: 'none',
    extraFields: { filter: 'Which ones' },
  },
  archive: {
    noun: 'one',
    describe: (one, _, product) => `Archives a ${one} of ${product}: it stays readable.`,
    ownFields: 'key',
    extraFields: {},
  },
  export: {
    noun: 'many',
    describe: (_, many, product) => `Exports ${many} of ${product} to a file.`,
    ownFields: 'none',
    extraFields: { format: 'Format: csv|json' },
  },
  share: {
    noun: 'one',
    describe: (one, _, product) => `Shares a ${one} of ${product} by a link.`,
    ownFields: 'key',
    extraFields: { expires: 'Until when' },
  },
};

/** A thousand tools of sixteen servers, many of them similar: the catalog of a company with many servers. */
export function largeCatalog(): readonly CatalogFixtureServer[] {
  return [...codeWords, ...communicationWords, ...businessWords, ...cloudWords, ...monitoringWords].map(
    serverOf,
  );
}

function serverOf({ name, product, style, verbs, resources, specials }: ServerWords): CatalogFixtureServer {
  const verbTools = resources.flatMap((thing) => verbs.map((verb) => toolOf(verb, thing, product, style)));
  const specialTools = specials.map(([toolName, does, fields]) => ({
    name: toolName,
    description: does,
    inputSchema: schemaOf(fields),
  }));
  return { name, tools: [...verbTools, ...specialTools] };
}

function toolOf(
  verb: Verb,
  [one, many, hint, fields]: ResourceWords,
  product: string,
  style: ServerWords['style'],
): CatalogFixtureTool {
  const { noun, describe, ownFields, extraFields } = verbTemplates[verb];
  const resourceName = noun === 'one' ? one : many;
  const selectedFields =
    ownFields === 'all'
      ? fields
      : ownFields === 'key'
        ? Object.fromEntries(Object.entries(fields).slice(0, 2))
        : {};
  const isReadOnly = ['list', 'get', 'describe', 'search', 'count'].includes(verb);
  return {
    name: toToolName(verb, resourceName, style),
    description: `${describe(toPhrase(one), toPhrase(many), product)} ${hint}`,
    inputSchema: schemaOf({ ...selectedFields, ...extraFields }),
    ...(isReadOnly && { annotations: { readOnlyHint: true } }),
    ...(verb === 'delete' && { annotations: { destructiveHint: true } }),
  };
}

function toToolName(verb: string, resourceName: string, style: ServerWords['style']): string {
  if (style === 'snake') return `${verb}_${resourceName}`;
  return style === 'kebab'
    ? `${verb}-${resourceName}`
    : `${verb}${resourceName.charAt(0).toUpperCase()}${resourceName.slice(1)}`;
}

/** Converts a name to words: `pull_request` becomes "pull request". */
function toPhrase(name: string): string {
  return name
    .replaceAll(/[_-]/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
}

function schemaOf(fields: Fields): CatalogFixtureTool['inputSchema'] {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const [description, choices] = text.includes('|') ? text.split(': ') : [text];
      return [
        name,
        { type: 'string', description, ...(choices !== undefined && { enum: choices.split('|') }) },
      ];
    }),
  );
  return { type: 'object', properties, additionalProperties: false };
}

/** A search query in a user's words, with the expected server and tool. */
export interface CatalogQuery {
  readonly requestText: string;
  readonly server: string;
  readonly tool: string;
}

const query = (requestText: string, server: string, tool: string): CatalogQuery => ({
  requestText,
  server,
  tool,
});

/**
 * Written before the ranking, and not adapted to it. The first version found 18 of them; it was then improved where
 * that helped queries in general. They show what works, not a general success rate.
 */
export const evaluationQueries: readonly CatalogQuery[] = [
  query('send a message to the #releases channel on Slack', 'slack', 'post_message'),
  query('which branches are there in the payments repo', 'github', 'list_branches'),
  query('open a bug report in our GitHub repo about the broken login', 'github', 'create_issue'),
  query('move PROJ-12 to Done in Jira', 'jira', 'transition-issue'),
  query('find a time when Anna, Ben and I are all free next week', 'outlook', 'find-meeting-times'),
  query('turn on my out of office reply until Monday', 'outlook', 'set-automatic-replies'),
  query('refund the customer half of what she paid', 'stripe', 'refund_charge'),
  query('how much did we spend on AWS last month?', 'aws', 'get-cost-and-usage'),
  query('who is on call right now?', 'pagerduty', 'list-on-calls'),
  query('why is this SQL query so slow', 'postgres', 'explain_query'),
  query('write down two hours of work on PROJ-7 in Jira', 'jira', 'create-worklog'),
  query('add a row to the budget spreadsheet', 'drive', 'append_rows'),
  query('restart the web server machine in EC2', 'aws', 'reboot-instances'),
  query('turn this lead into an opportunity', 'salesforce', 'convertLead'),
  query('show me the logs of the failed CI job', 'github', 'get_job_logs'),
  query('decline the invitation for Thursday’s meeting and say I am travelling', 'gcal', 'respondToEvent'),
  query('let Maria edit this file but nobody else', 'drive', 'set_permission'),
  query('go back to last week’s version of the onboarding wiki page', 'confluence', 'restorePageVersion'),
  query('cancel the customer’s plan at the end of the billing period', 'stripe', 'cancel_subscription'),
  query('swap my on-call shift with Tom this weekend', 'pagerduty', 'override-schedule'),
];

/** The queries that were used to develop the ranking. */
export const tuningQueries: readonly CatalogQuery[] = [
  query('post an announcement to slack tomorrow morning at nine', 'slack', 'schedule_message'),
  query('what changed between the tag v1.2 and main?', 'github', 'compare_refs'),
  query('close the incident, it is fixed', 'pagerduty', 'resolve-incident'),
  query('upload a file to S3', 'aws', 'put-object'),
  query('is there a meeting room with ten seats', 'gcal', 'searchRooms'),
  query('silence the CPU monitor for an hour', 'datadog', 'mute_monitor'),
  query('give the issue to Priya in Jira', 'jira', 'assign-issue'),
  query('make a discount of 20 percent for new customers', 'stripe', 'create_coupon'),
  query('kill the stuck database session', 'postgres', 'terminate_backend'),
  query('add a DNS record for the new subdomain', 'aws', 'change-record-set'),
  query('ask Kim to review my PR', 'github', 'request_reviewers'),
  query('leave an internal note for the agents on the support ticket', 'zendesk', 'add_ticket_comment'),
];
