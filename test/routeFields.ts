import * as dto from '@behalf/contracts';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

/** The media type of an answer that is not JSON, or one of these. */
type NonJsonResponse = 'empty' | 'redirect' | `${string}/${string}`;

/** What a route reads and what it answers on success, by status. Errors are the same on every route: see `errors.txt`. */
export interface RouteFields {
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** The events of a stream or a message channel, by name. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
  readonly [status: number]: z.ZodType | NonJsonResponse;
}

const { boolean, literal, number, object, string } = z;
const array = z.array;
const text = string().optional();
const anything = z.looseObject({});
const success = object({ success: boolean() });
const message = object({ message: string() });
const deleted = { 204: 'empty' } as const;

const html = { 200: 'text/html' } as const;
const page = { 200: 'text/html', 302: 'redirect' } as const;
const jwks = { 200: object({ keys: array(anything) }) };

/** RFC 9728. */
const protectedResource = {
  200: object({
    resource: string(),
    authorization_servers: array(string()),
    scopes_supported: array(string()).optional(),
    bearer_methods_supported: array(string()),
    resource_name: string(),
  }),
};

const account = { 200: object({ user: dto.UserView }) };
const sessions = { 200: object({ sessions: array(dto.SessionView) }) };

const sharing = (resourceType: string) => ({
  200: dto.SharingView.extend({ resourceType: literal(resourceType), resourceId: string() }),
});
const share = {
  body: dto.ShareRequest,
  200: object({ message: string(), results: dto.SharingView }),
};

/** The parameters of MCP notifications and the results of MCP methods are passed on as the server wrote them. */
const upstreamEvents = { progress: anything, log: anything, error: dto.Problem };
const runEvents = {
  run: dto.RunView,
  step: dto.RunStepView,
  progress: dto.RunProgress,
  result: dto.RunView,
  error: dto.Problem,
} satisfies Record<dto.RunEventName, z.ZodType>;

const mcpQuery = object({ tools: literal('search').optional() });
const mcpEndpoint = { query: mcpQuery, 200: 'text/event-stream' } as const;
const mcpMessages = { query: mcpQuery, body: anything, 200: anything, 202: 'empty' } as const;
const mcpSession = { query: mcpQuery, ...deleted } as const;

/**
 * The fields of every route. `test/scenarios/accessMatrix.test.ts` compares the answers of the gateway with this table. The documents and
 * endpoints of OAuth have the fields of RFC 6749, RFC 7009, RFC 7591 and RFC 8414, which are not repeated here.
 */
export const routeFields: Readonly<Record<string, RouteFields>> = {
  // Pages
  'GET /': { query: object({ returnTo: text, error: text, incident: text }), ...html },
  'GET /chat': page,
  'GET /chat/:id': page,
  'GET /tools': page,
  'GET /tools/:server': page,
  'GET /tools/:server/:tool': page,
  'GET /blocks': page,
  'GET /blocks/:id': page,
  'GET /blocks/:id/edit': page,
  'GET /sets': page,
  'GET /sets/:id': page,
  'GET /sets/:id/edit': page,
  'GET /servers': page,
  'GET /servers/:name': page,
  'GET /settings': page,
  'GET /admin': page,
  'GET /admin/:page': page,
  'GET /setup': { query: object({ token: string() }), ...html },
  'GET /style.css': { 200: 'text/css' },
  'GET /assets/:file': {},

  // Operations
  'GET /health': { 200: object({ status: literal('ok') }) },
  'GET /ready': { 200: dto.ReadyView },
  'GET /metrics': { 200: 'text/plain' },

  // Accounts
  'POST /api/auth/setup': { body: dto.SetupRequest, 201: object({ user: dto.UserView }), 303: 'redirect' },
  'POST /api/auth/login': { body: dto.LoginRequest, ...account, 303: 'redirect' },
  'POST /api/auth/logout': { ...deleted, 303: 'redirect' },
  'GET /oauth/openid': { query: object({ returnTo: text }), 302: 'redirect' },
  'GET /oauth/openid/callback': { 302: 'redirect' },
  'GET /api/user': { 200: dto.OwnUserView },
  'GET /api/user/keys': { 200: object({ keys: array(dto.ApiKeyView) }) },
  'POST /api/user/keys': { body: dto.ApiKeyRequest, 201: dto.ApiKeyView.extend({ key: string() }) },
  'DELETE /api/user/keys/:id': deleted,
  'GET /api/user/sessions': sessions,
  'DELETE /api/user/sessions/:session': deleted,
  'GET /api/user/clients': { 200: object({ clients: array(dto.ClientView) }) },
  'DELETE /api/user/clients/:id': deleted,
  'POST /api/user/plugins': { body: dto.PluginsRequest, 200: success },

  // Authorization for MCP clients
  'GET /.well-known/oauth-protected-resource': protectedResource,
  'GET /.well-known/oauth-protected-resource/mcp': protectedResource,
  'GET /.well-known/oauth-protected-resource/mcp/:serverName': protectedResource,
  'GET /.well-known/oauth-authorization-server/as': { 200: anything },
  'GET /.well-known/openid-configuration/as': { 200: anything },
  'GET /as/.well-known/openid-configuration': { 200: anything },
  'GET /as/jwks': jwks,
  'GET /as/auth': { 303: 'redirect' },
  'GET /as/auth/:uid': { 303: 'redirect' },
  'GET /as/interaction/:uid': page,
  'POST /as/interaction/:uid': { body: object({ token: string(), decision: string() }), 303: 'redirect' },
  'POST /as/token': { 200: anything },
  'POST /as/token/revocation': { 200: 'empty' },
  'POST /as/reg': { 201: anything },

  // The MCP endpoint
  'POST /mcp': mcpMessages,
  'GET /mcp': mcpEndpoint,
  'DELETE /mcp': mcpSession,
  'POST /mcp/:serverName': mcpMessages,
  'GET /mcp/:serverName': mcpEndpoint,
  'DELETE /mcp/:serverName': mcpSession,

  // Tools, resources and prompts
  'GET /api/mcp/tools': { 200: dto.ToolsView },
  'GET /api/mcp/servers/:serverName/tools': { 200: dto.ServerToolsView },
  'POST /api/mcp/servers/:serverName/tools/:toolName/call': {
    query: object({ format: dto.ResultFormat.optional() }),
    body: dto.ToolCallRequest,
    200: z.union([dto.RawResult, dto.OpenAiResult, dto.AnthropicResult]),
    events: { ...upstreamEvents, result: z.union([dto.RawResult, dto.OpenAiResult, dto.AnthropicResult]) },
  },
  'POST /api/mcp/servers/:serverName/resources/read': {
    body: dto.ResourceRequest,
    200: anything,
    events: { ...upstreamEvents, result: anything },
  },
  'POST /api/mcp/servers/:serverName/prompts/:promptName/get': {
    body: dto.PromptRequest,
    200: anything,
    events: { ...upstreamEvents, result: anything },
  },
  'GET /api/mcp/servers/:serverName/resources': describeList('resources'),
  'GET /api/mcp/servers/:serverName/resources/templates': describeList('resourceTemplates'),
  'GET /api/mcp/servers/:serverName/prompts': describeList('prompts'),
  'POST /api/mcp/:serverName/diagnose': { 200: dto.DiagnosisView },
  'POST /api/mcp/:serverName/reinitialize': { body: dto.ReinitializeRequest, 200: dto.ReinitializeView },
  'GET /api/mcp/connection/status': { 200: dto.ConnectionStatusesView },
  'GET /api/mcp/connection/status/:serverName': { 200: dto.ConnectionStatusView },
  'GET /api/mcp/:serverName/auth-values': { 200: dto.AuthValuesView },
  'GET /api/mcp/approvals': { 200: dto.ApprovalsView },
  'POST /api/mcp/approvals/:id': { body: dto.ApprovalDecision, 200: dto.ApprovalView },

  // Blocks and sets
  'GET /api/mcp/blocks': { query: dto.BlocksQuery, 200: dto.BlocksView },
  'POST /api/mcp/blocks': { body: dto.BlockRequest, 201: dto.BlockView },
  'POST /api/mcp/blocks/check': { body: dto.BlockCheckRequest, 200: dto.BlockCheckView },
  'GET /api/mcp/blocks/:id': { 200: dto.BlockView },
  'PATCH /api/mcp/blocks/:id': { body: dto.BlockChange, 200: dto.BlockView },
  'DELETE /api/mcp/blocks/:id': deleted,
  'POST /api/mcp/blocks/:id/run': {
    body: dto.BlockRunRequest,
    200: dto.RawResult,
    events: { ...upstreamEvents, result: dto.RawResult },
  },
  'GET /api/mcp/sets': { query: dto.SetsQuery, 200: dto.SetsView },
  'POST /api/mcp/sets': { body: dto.SetRequest, 201: dto.SetView },
  'GET /api/mcp/sets/:id': { 200: dto.SetView },
  'PATCH /api/mcp/sets/:id': { body: dto.SetChange, 200: dto.SetView },
  'DELETE /api/mcp/sets/:id': deleted,
  'POST /api/mcp/sets/:id/check': { body: dto.SetCheckRequest, 200: dto.SetCheckView },
  'POST /api/mcp/sets/:id/run': { body: dto.SetRunRequest, 202: dto.RunView, events: runEvents },
  'GET /api/mcp/sets/:id/runs': { query: dto.SetsQuery, 200: dto.RunsView },
  'GET /api/mcp/runs/:runId': { 200: dto.RunView },
  'POST /api/mcp/runs/:runId/cancel': { 200: dto.RunView },
  'POST /api/mcp/runs/:runId/resume': { body: dto.RunResumeRequest, 202: dto.RunView, events: runEvents },

  // Sign-in at servers
  'POST /api/mcp/:serverName/oauth/start': { body: dto.StartFlowRequest, 201: dto.FlowView },
  'GET /api/mcp/:serverName/oauth/asked': { query: dto.ConsentQuery, 200: success },
  'GET /api/mcp/:serverName/oauth/initiate': {
    query: object({ flowId: string(), userId: text }),
    ...page,
  },
  'POST /api/mcp/:serverName/oauth/initiate': {
    body: object({ flowId: string(), userId: text, token: string() }),
    303: 'redirect',
  },
  'GET /api/mcp/:serverName/oauth/callback': { 302: 'redirect' },
  'POST /api/mcp/:serverName/oauth/bind': { 200: success },
  'POST /api/mcp/:serverName/oauth/disconnect': { 200: dto.DisconnectView },
  'POST /api/mcp/oauth/cancel/:serverName': { 200: success.extend({ message: string() }) },
  'GET /api/mcp/oauth/status/:flowId': { query: dto.FlowStatusQuery, 200: dto.FlowStatusView },
  'GET /api/mcp/oauth/tokens/:flowId': { 200: dto.FlowTokensView },
  'GET /api/mcp/:serverName/credentials': { 200: dto.CredentialsView },
  'PATCH /api/mcp/:serverName/credentials/:label': { body: dto.CredentialChange, 200: dto.CredentialView },
  'DELETE /api/mcp/:serverName/credentials/:label': { 200: dto.DisconnectView },
  'PUT /api/mcp/:serverName/credential': {
    body: dto.ImportCredentialRequest,
    200: dto.ImportedCredentialView,
  },
  'GET /oauth/client/:file': { 200: anything },
  'GET /oauth/client/public/:file': { 200: anything },
  'GET /oauth/jwks.json': jwks,
  'GET /oauth/success': { query: object({ serverName: text, flowId: text, returnTo: text }), ...html },
  'GET /oauth/error': {
    query: object({ serverName: text, flowId: text, returnTo: text, error: text }),
    ...html,
  },
  'GET /oauth/result.js': { 200: 'text/javascript', events: { [dto.flowChannel]: dto.FlowMessage } },

  // The chat
  'POST /api/chat': { body: dto.ChatRequest, 200: 'text/event-stream', events: dto.chatEvents },
  'GET /api/chat': { query: dto.ConversationsQuery, 200: dto.ConversationsView },
  'GET /api/chat/models': { 200: dto.ModelsView },
  'GET /api/chat/:id': { 200: dto.ConversationView },
  'PATCH /api/chat/:id': { body: dto.ConversationChange, 200: dto.ConversationSummary },
  'DELETE /api/chat/:id': deleted,
  'POST /api/chat/:id/stop': { 202: object({}) },
  'POST /api/chat/:id/approvals/:callId': { body: dto.ApprovalDecision, 200: dto.ApprovalView },
  'POST /api/chat/:id/connects/:callId': { body: dto.ConnectDecision, 202: object({}) },

  // Definitions of servers
  'GET /api/mcp/servers': { query: dto.ServersQuery, 200: dto.ServersView },
  'POST /api/mcp/servers': { body: dto.CreateServerRequest, 201: dto.CreatedServerView },
  'POST /api/mcp/servers/check': { body: dto.ServerCheckRequest, 200: dto.ServerCheckView },
  'POST /api/mcp/discover-tools': { body: dto.DiscoverToolsRequest, 200: dto.DiscoverToolsView },
  'GET /api/mcp/servers/:serverName': { 200: dto.ServerView },
  'PATCH /api/mcp/servers/:serverName': { body: dto.ServerConfigRequest, 200: dto.NamedServerView },
  'DELETE /api/mcp/servers/:serverName': { 200: message },

  // Permissions
  'GET /api/permissions/search-principals': { query: dto.PrincipalSearch, 200: dto.PrincipalSearchView },
  'GET /api/permissions/mcpServer/roles': { 200: array(dto.AclRoleView) },
  'GET /api/permissions/mcpServer/effective/all': { 200: z.record(string(), number()) },
  'GET /api/permissions/mcpServer/:id/effective': { 200: object({ permissionBits: number() }) },
  'GET /api/permissions/mcpServer/:id': sharing('mcpServer'),
  'PUT /api/permissions/mcpServer/:id': share,
  'GET /api/permissions/block/:id': sharing('block'),
  'PUT /api/permissions/block/:id': share,
  'GET /api/permissions/set/:id': sharing('set'),
  'PUT /api/permissions/set/:id': share,
  'GET /api/roles/:role': { 200: dto.RoleView },
  'PUT /api/roles/:role/mcp-servers': { body: dto.PermissionsRequest, 200: dto.RoleView },

  // Administration
  'GET /api/admin/connections': { 200: dto.LiveConnectionsView },
  'GET /api/admin/stats': { query: dto.StatsQuery, 200: dto.StatsView },
  'GET /api/admin/config': { 200: dto.EffectiveConfigView },
  'POST /api/admin/reload': { 200: object({ reloaded: boolean() }) },
  'GET /api/admin/mcp/servers': { 200: dto.AdminServersView },
  'GET /api/admin/mcp/servers/:serverName': { 200: dto.OverrideView },
  'PUT /api/admin/mcp/servers/:serverName': { body: dto.ServerConfigRequest, 200: dto.OverrideView },
  'DELETE /api/admin/mcp/servers/:serverName': { 200: message },
  'POST /api/admin/credentials/diagnose': { body: dto.DiagnoseUserRequest, 200: dto.DiagnosisView },
  'POST /api/admin/credentials/reauth': { body: dto.ReauthCampaignRequest, 200: dto.ReauthCampaignView },
  'GET /api/admin/roles': { 200: object({ roles: array(dto.AdminRoleView) }) },
  'POST /api/admin/roles': { body: dto.RoleRequest, 201: dto.AdminRoleView },
  'GET /api/admin/roles/:name': { 200: dto.AdminRoleView },
  'PATCH /api/admin/roles/:name': { body: dto.RoleChangeRequest, 200: dto.AdminRoleView },
  'DELETE /api/admin/roles/:name': deleted,
  'GET /api/admin/users': { query: dto.UserSearch, 200: dto.AdminUsersView },
  'GET /api/admin/users/:id': { 200: dto.AdminUserView },
  'PATCH /api/admin/users/:id': { body: dto.UserChangeRequest, 200: dto.AdminUserView },
  'GET /api/admin/users/:id/sessions': sessions,
  'DELETE /api/admin/users/:id/sessions': { 200: object({ ended: number() }) },
  'DELETE /api/admin/users/:id/sessions/:session': deleted,
  'GET /api/admin/audit': { query: dto.AuditQuery, 200: dto.AuditView },
  'GET /api/admin/audit/export': { query: dto.AuditExportQuery, 200: 'application/x-ndjson' },
  'GET /api/admin/audit/verify': { 200: dto.AuditVerifyView },
};

function describeList(member: string): RouteFields {
  return { 200: object({ [member]: array(anything), incomplete: literal(true).optional() }) };
}

/** How a successful answer differs from the table: a status, a media type or a field that the table does not list. */
export function describeMismatch(
  route: string,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  text: string,
): string | undefined {
  const expected = routeFields[route]?.[status];
  const type = headers.get('content-type') ?? '';
  if (expected === undefined) return `status ${status} is not listed`;
  if (expected === 'empty') return text === '' ? undefined : 'the body is not empty';
  if (expected === 'redirect') return headers.has('location') ? undefined : 'Location is missing';
  if (typeof expected === 'string') return type.startsWith(expected) ? undefined : `the type is ${type}`;
  const body = JSON.parse(text) as unknown;
  const { data, error } = expected.safeParse(body);
  if (error) return error.message;
  return isDeepStrictEqual(data, body) ? undefined : `only these fields are listed: ${JSON.stringify(data)}`;
}
