import type { KnownLogin, ResolvedProvider } from './login.ts';

/** Resources whose tokens are more powerful than any MCP server needs. Only the operator may request them. */
export type RestrictedResource = 'graph' | 'arm' | 'microsoft' | 'bare' | 'login' | 'garbled';

/** Scopes of OpenID Connect (Core sections 5.4 and 11). They name no resource. */
const openIdScopes: ReadonlySet<string> = new Set([
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'offline_access',
]);

/** An Entra scope is a permission after the ID or URI of an application. */
const WITH_RESOURCE = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/]|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\/+[^/])/i;

/**
 * The restricted resource that these scopes or an audience request. It normalizes all notations, because an
 * attacker would disguise the request.
 */
export function classifyScopes(
  scopes: readonly string[],
  provider: ResolvedProvider | 'none',
  login: KnownLogin | null,
): RestrictedResource | undefined {
  if (isPossiblyEntra(provider)) {
    const resourceScopes = scopes.filter((scope) => !openIdScopes.has(scope.toLowerCase()));
    // Entra interprets a scope without a resource, or no scope at all, as a scope of Microsoft Graph.
    if (resourceScopes.length === 0 || !resourceScopes.every((scope) => WITH_RESOURCE.test(scope))) {
      return provider.isMicrosoft ? 'graph' : 'bare';
    }
  }
  return classifyNames(scopes, provider, login);
}

/** The same check for values that name only a resource. */
export function classifyNames(
  names: readonly string[],
  provider: ResolvedProvider | 'none',
  login: KnownLogin | null,
): RestrictedResource | undefined {
  const loginRuns = [
    ...listLoginRuns(login),
    ...(provider === 'none' || provider.clientId === null ? [] : toSegmentRuns(provider.clientId)),
  ];
  for (const name of names) {
    const segments = splitSegments(name);
    if (!segments) return 'garbled';
    if (segments.some((segment) => isHost(segment, graphHosts) || isId(segment, graphIds))) return 'graph';
    if (segments.some((segment) => isHost(segment, armHosts) || isId(segment, armIds))) return 'arm';
    if (isPossiblyEntra(provider) && segments.some(isMicrosoftSegment)) return 'microsoft';
    if (loginRuns.some((run) => containsRun(segments, run))) return 'login';
  }
  return undefined;
}

/** Entra under a custom domain looks like any other issuer. An entry in `identityProviders` clarifies it. */
function isPossiblyEntra(provider: ResolvedProvider | 'none'): provider is ResolvedProvider {
  return provider !== 'none' && (provider.isMicrosoft || provider.isDerived);
}

function isMicrosoftSegment(segment: string): boolean {
  return isHost(segment, microsoftDomains) || isMicrosoftId(normalizeId(segment));
}

/** The identifiers of the login application. A token for it would be accepted as a sign-in. */
function listLoginRuns(login: KnownLogin | null): string[][] {
  if (!login) return [];
  const { clientId, audience, scopes } = login;
  return [
    ...(clientId === null ? [] : toSegmentRuns(clientId)),
    ...(audience === null ? [] : toSegmentRuns(audience)),
    ...scopes
      .filter((scope) => !openIdScopes.has(scope))
      .flatMap((scope) => toSegmentRuns(readResource(scope))),
  ];
}

/** The application of `api://app/permission`. All its permissions, including `.default`, belong to it. */
function readResource(scope: string): string {
  const withoutPrefix = stripScheme(scope);
  return /^(.+?)\/+[^/]*$/.exec(withoutPrefix)?.[1] ?? withoutPrefix;
}

function toSegmentRuns(text: string): string[][] {
  const segments = splitSegments(stripScheme(text));
  return segments && segments.length > 0 ? [segments] : [];
}

function stripScheme(text: string): string {
  return text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
}

/** The maximum number of nested percent encodings that are decoded. */
const MAX_ENCODING_LAYERS = 3;

/**
 * The parts between the delimiters of a URL, normalized: decoded, lower case, without empty segments, default ports
 * and the trailing dot of a host. Undefined if the text contains characters that a scope must not contain (RFC 6749
 * section 3.3), encoded or not.
 */
function splitSegments(text: string): string[] | undefined {
  let decoded = text;
  for (let layers = 0; decoded.includes('%'); layers += 1) {
    if (layers === MAX_ENCODING_LAYERS || !/%[0-9a-f]{2}/i.test(decoded)) return undefined;
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      return undefined;
    }
  }
  if (!/^[\x21\x23-\x5b\x5d-\x7e]*$/.test(decoded)) return undefined;
  return decoded
    .toLowerCase()
    .split(/[/:@?#&=;,|]+/)
    .map((segment) => segment.replace(/[{}()]/g, '').replace(/\.+$/, ''))
    .filter((segment) => segment !== '' && segment !== '443' && segment !== '80');
}

function isHost(segment: string, hosts: readonly string[]): boolean {
  return hosts.some((host) => segment === host || segment.endsWith(`.${host}`));
}

function isId(segment: string, ids: readonly string[]): boolean {
  return ids.some((id) => normalizeId(id) === normalizeId(segment));
}

function containsRun(segments: readonly string[], run: readonly string[]): boolean {
  return segments.some((_, start) =>
    run.every((expected, step) => normalizeId(segments[start + step] ?? '') === normalizeId(expected)),
  );
}

/** Hyphens in an ID are optional. */
function normalizeId(segment: string): string {
  const digits = segment.replaceAll('-', '');
  return /^[0-9a-f]{32}$/.test(digits) ? digits : segment;
}

/** Hosts of Microsoft Graph and of its predecessor, in all clouds. */
const graphHosts = [
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
const armHosts = [
  'management.azure.com',
  'management.core.windows.net',
  'management.usgovcloudapi.net',
  'management.core.usgovcloudapi.net',
  'management.chinacloudapi.cn',
  'management.core.chinacloudapi.cn',
  'management.microsoftazure.de',
  'management.core.cloudapi.de',
];
/** Application IDs of Microsoft Graph, its predecessor, and Azure management. */
const graphIds = ['00000003-0000-0000-c000-000000000000', '00000002-0000-0000-c000-000000000000'];
const armIds = ['797f4846-ba00-4fd7-ba43-dac1f8f63013'];

/**
 * Domains of Microsoft's own services: mail, files, vaults, data. The list cannot be complete. It denies the
 * best-known services to users who store a server; `targets` provides the actual protection.
 */
const microsoftDomains = [
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

/** Sequential IDs of first-party applications: Exchange, SharePoint, Teams, Dynamics, Power BI, Intune. */
const FIRST_PARTY_ID = /^[0-9a-f]{8}0000(?:0000c000|0ff1ce00)0{12}$/;

/** Other first-party applications, without hyphens. */
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

/** Takes an ID without hyphens. */
function isMicrosoftId(id: string): boolean {
  return FIRST_PARTY_ID.test(id) || microsoftIds.has(id);
}
