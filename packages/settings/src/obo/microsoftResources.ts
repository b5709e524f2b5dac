/** Hosts of Microsoft Graph, and of the directory service before it, in all clouds. */
export const graphHosts = [
  'graph.microsoft.com',
  'graph.microsoft.us',
  'dod-graph.microsoft.us',
  'graph.microsoft.de',
  'microsoftgraph.chinacloudapi.cn',
  'graph.windows.net',
  'graph.microsoftazure.us',
  'graph.chinacloudapi.cn',
  'graph.cloudapi.de',
  'ags.windows.net',
];
export const armHosts = [
  'management.azure.com',
  'management.core.windows.net',
  'management.usgovcloudapi.net',
  'management.core.usgovcloudapi.net',
  'management.chinacloudapi.cn',
  'management.core.chinacloudapi.cn',
  'management.microsoftazure.de',
  'management.core.cloudapi.de',
];
/** Applications by their ids: Microsoft Graph, its predecessor, and Azure's management. */
export const graphIds = ['00000003-0000-0000-c000-000000000000', '00000002-0000-0000-c000-000000000000'];
export const armIds = ['797f4846-ba00-4fd7-ba43-dac1f8f63013'];

/**
 * Domains below which Microsoft's own services answer: mail, files, vaults, data. No list of them is ever whole. It keeps
 * the best known ones from who may store a server; what really protects is `targets`.
 */
export const microsoftDomains = [
  ...['office.com', 'office365.com', 'office.net', 'outlook.com', 'sharepoint.com', 'skype.com'],
  ...['azure.com', 'azure.net', 'windows.net', 'microsoft.com', 'microsoftonline.com', 'visualstudio.com'],
  ...[
    'dynamics.com',
    'powerbi.com',
    'powerapps.com',
    'yammer.com',
    'loganalytics.io',
    'applicationinsights.io',
  ],
  // National clouds.
  ...[
    'azure.us',
    'usgovcloudapi.net',
    'microsoft.us',
    'microsoftonline.us',
    'microsoftazure.us',
    'windowsazure.us',
  ],
  ...['office365.us', 'sharepoint.us', 'sharepoint-mil.us', 'powerbigov.us', 'powerapps.us'],
  ...['azure.cn', 'chinacloudapi.cn', 'microsoftonline.cn', 'sharepoint.cn', 'dynamics.cn', 'powerbi.cn'],
  ...['microsoft.de', 'microsoftonline.de', 'microsoftazure.de', 'cloudapi.de', 'sharepoint.de'],
];

/** The ids that were given to the first services in a row: Exchange, SharePoint, Teams, Dynamics, Power BI, Intune. */
const FIRST_PARTY_ID = /^[0-9a-f]{8}0000(?:0000c000|0ff1ce00)0{12}$/;

/** And of others, without hyphens. */
const microsoftIds: ReadonlySet<string> = new Set(
  [
    'cfa8b339-82a2-471a-a3c9-0fc0be7a4093', // Key Vault
    '499b84ac-1321-427f-aa17-267ca6975798', // Azure DevOps
    'e406a681-f3d4-42a8-90b6-c2b029497af1', // Azure Storage
    '022907d3-0f1b-48f7-badc-1ba6abab6d66', // Azure SQL
    'c5393580-f805-4401-95e8-94b7a6ef2fc2', // Office 365 management
    '2d4d3d8e-2be3-4bef-9f87-7875a61c29de', // OneNote
  ].map((id) => id.replaceAll('-', '')),
);

/** Without hyphens. */
export function isMicrosoftId(id: string): boolean {
  return FIRST_PARTY_ID.test(id) || microsoftIds.has(id);
}
