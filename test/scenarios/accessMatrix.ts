/** The kinds of callers. `former` created a server with a role that permitted it, and has the role USER since then. */
export const matrixActors = ['anonymous', 'user', 'creator', 'editor', 'owner', 'admin', 'former'] as const;
export type Actor = (typeof matrixActors)[number];

/** The request of each actor, with the expected status. */
export interface MatrixRow {
  /** One status for each of `matrixActors`, in their order. */
  readonly expectedStatuses: readonly [number, number, number, number, number, number, number];
  readonly body?: unknown;
  readonly query?: string;
  /** Named segments of the path; those that name a server, a user or a role have defaults. */
  readonly params?: Readonly<Record<string, string>>;
}

const createDefinition = (title: string) => ({
  config: { type: 'streamable-http', url: '<upstream>', title },
});

/**
 * Every route with every kind of caller. The test compares it with the routes of the gateway and fails if one is
 * missing. `npm run schema` renders it in docs/reference/permissions.md. The server under test is not shared with
 * `user` and `creator`, so requests for it return 404 to them. `admin` manages it but cannot use it; `former` uses it
 * but cannot change it.
 */
export const accessMatrix: Readonly<Record<string, MatrixRow>> = {
  // Public doors.
  'GET /': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  // The interface: what it shows asks for itself.
  'GET /chat': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /chat/:id': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /tools': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /tools/:server': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /tools/:server/:tool': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /blocks': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /blocks/:id': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /blocks/:id/edit': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /sets': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /sets/:id': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /sets/:id/edit': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /servers': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /servers/:name': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /settings': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /admin': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /admin/:page': { expectedStatuses: [302, 200, 200, 200, 200, 200, 200] },
  'GET /assets/:file': { expectedStatuses: [404, 404, 404, 404, 404, 404, 404] },
  'GET /health': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /ready': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /style.css': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /setup': { expectedStatuses: [403, 403, 403, 403, 403, 403, 403] },
  'GET /metrics': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
  'POST /api/auth/setup': { expectedStatuses: [400, 400, 400, 400, 400, 400, 400], body: {} },
  'POST /api/auth/login': { expectedStatuses: [400, 400, 400, 400, 400, 400, 400], body: {} },
  // Of somebody who is not signed in; that it ends sessions is shown elsewhere.
  'POST /api/auth/logout': { expectedStatuses: [204, 204, 204, 204, 204, 204, 204] },
  'GET /oauth/openid': { expectedStatuses: [302, 302, 302, 302, 302, 302, 302] },
  'GET /oauth/openid/callback': { expectedStatuses: [302, 302, 302, 302, 302, 302, 302] },
  'GET /.well-known/oauth-protected-resource': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /.well-known/oauth-protected-resource/mcp': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /.well-known/oauth-protected-resource/mcp/:serverName': {
    expectedStatuses: [200, 200, 200, 200, 200, 200, 200],
  },

  // Our own authorization server. Nobody is known by its cookie here; the consent page asks for itself.
  'GET /.well-known/oauth-authorization-server/as': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /.well-known/openid-configuration/as': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /as/.well-known/openid-configuration': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /as/jwks': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /as/auth': { expectedStatuses: [400, 400, 400, 400, 400, 400, 400] },
  'GET /as/auth/:uid': { expectedStatuses: [400, 400, 400, 400, 400, 400, 400] },
  'POST /as/token': { expectedStatuses: [400, 400, 400, 400, 400, 400, 400], body: {} },
  'POST /as/token/revocation': { expectedStatuses: [400, 400, 400, 400, 400, 400, 400], body: {} },
  'POST /as/reg': { expectedStatuses: [400, 400, 400, 400, 400, 400, 400], body: {} },
  'GET /as/interaction/:uid': { expectedStatuses: [400, 400, 400, 400, 400, 400, 400] },
  'POST /as/interaction/:uid': { expectedStatuses: [401, 400, 400, 400, 400, 400, 400], body: {} },

  // One's own account.
  'GET /api/user': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/user/keys': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/user/keys': {
    expectedStatuses: [401, 201, 201, 201, 201, 201, 201],
    body: { name: 'laptop', scopes: ['mcp'] },
  },
  'DELETE /api/user/keys/:id': {
    expectedStatuses: [401, 404, 404, 404, 404, 404, 404],
    params: { id: 'unknown' },
  },
  'GET /api/user/sessions': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'DELETE /api/user/sessions/:session': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404] },

  'GET /api/user/clients': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'DELETE /api/user/clients/:id': {
    expectedStatuses: [401, 404, 404, 404, 404, 404, 404],
    params: { id: 'unknown' },
  },

  // Using servers.
  'GET /api/mcp/tools': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/mcp/servers/:serverName/tools/:toolName/call': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
    body: { arguments: {} },
  },
  'GET /api/mcp/servers/:serverName/tools': { expectedStatuses: [401, 404, 404, 200, 200, 404, 200] },
  'POST /api/mcp/servers/:serverName/resources/read': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
    body: { uri: 'test:one' },
  },
  'POST /api/mcp/servers/:serverName/prompts/:promptName/get': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
    body: { arguments: {} },
  },
  'GET /api/mcp/servers/:serverName/resources': { expectedStatuses: [401, 404, 404, 200, 200, 404, 200] },
  'GET /api/mcp/servers/:serverName/resources/templates': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
  },
  'GET /api/mcp/servers/:serverName/prompts': { expectedStatuses: [401, 404, 404, 200, 200, 404, 200] },
  // For programs: the cookie of a session opens nothing here, so that everybody is told the same.
  'POST /mcp': { expectedStatuses: [401, 401, 401, 401, 401, 401, 401], body: {} },
  'GET /mcp': { expectedStatuses: [401, 401, 401, 401, 401, 401, 401] },
  'DELETE /mcp': { expectedStatuses: [401, 401, 401, 401, 401, 401, 401] },
  'POST /mcp/:serverName': { expectedStatuses: [401, 401, 401, 401, 401, 401, 401], body: {} },
  'GET /mcp/:serverName': { expectedStatuses: [401, 401, 401, 401, 401, 401, 401] },
  'DELETE /mcp/:serverName': { expectedStatuses: [401, 401, 401, 401, 401, 401, 401] },
  // That a server is not there is what the diagnosis says.
  'POST /api/mcp/:serverName/diagnose': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200], body: {} },
  'POST /api/mcp/:serverName/reinitialize': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
    body: {},
  },
  'GET /api/mcp/connection/status': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/mcp/connection/status/:serverName': { expectedStatuses: [401, 404, 404, 200, 200, 404, 200] },
  'GET /api/mcp/:serverName/auth-values': { expectedStatuses: [401, 404, 404, 200, 200, 404, 200] },
  'POST /api/user/plugins': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
    body: { pluginKey: 'mcp_<server>', action: 'uninstall', auth: {} },
  },

  // Blocks: of the owner with the server in question, shared with the editor as the server is; of `former` their own.
  'GET /api/mcp/blocks': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/mcp/blocks': {
    expectedStatuses: [401, 404, 404, 201, 201, 404, 201],
    body: { server: '<server>', tool: 'echo' },
  },
  'POST /api/mcp/blocks/check': {
    expectedStatuses: [401, 200, 200, 200, 200, 200, 200],
    body: { ids: ['unknown'] },
  },
  'GET /api/mcp/blocks/:id': { expectedStatuses: [401, 404, 404, 200, 200, 404, 200] },
  'PATCH /api/mcp/blocks/:id': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
    body: { title: 'Renamed', inputs: {} },
  },
  'POST /api/mcp/blocks/:id/run': { expectedStatuses: [401, 404, 404, 200, 200, 404, 200], body: {} },
  'DELETE /api/mcp/blocks/:id': { expectedStatuses: [401, 404, 404, 403, 204, 404, 204] },
  'GET /api/permissions/block/:id': { expectedStatuses: [401, 404, 404, 403, 200, 404, 200] },
  'PUT /api/permissions/block/:id': {
    expectedStatuses: [401, 403, 404, 403, 200, 404, 403],
    body: { updated: [], removed: [], public: false },
  },

  // Sets: of the owner's block, shared as that is; of `former` their own. Nobody has a run yet that anybody could name.
  'GET /api/mcp/sets': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/mcp/sets': {
    expectedStatuses: [401, 400, 400, 201, 201, 400, 201],
    body: { title: 'Set', steps: [{ key: 'a', block: '<block>' }] },
  },
  'GET /api/mcp/sets/:id': { expectedStatuses: [401, 404, 404, 200, 200, 404, 200] },
  'PATCH /api/mcp/sets/:id': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
    body: { title: 'Renamed' },
  },
  'POST /api/mcp/sets/:id/check': { expectedStatuses: [401, 404, 404, 200, 200, 404, 200], body: {} },
  'POST /api/mcp/sets/:id/run': { expectedStatuses: [401, 404, 404, 202, 202, 404, 202], body: {} },
  'GET /api/mcp/sets/:id/runs': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'DELETE /api/mcp/sets/:id': { expectedStatuses: [401, 404, 404, 403, 204, 404, 204] },
  'GET /api/mcp/runs/:runId': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404] },
  'POST /api/mcp/runs/:runId/cancel': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404], body: {} },
  'POST /api/mcp/runs/:runId/resume': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404], body: {} },
  'GET /api/permissions/set/:id': { expectedStatuses: [401, 404, 404, 403, 200, 404, 200] },
  'PUT /api/permissions/set/:id': {
    expectedStatuses: [401, 403, 404, 403, 200, 404, 403],
    body: { updated: [], removed: [], public: false },
  },

  // Signing in at servers. This one says nothing of where that is done.
  'POST /api/mcp/:serverName/oauth/start': {
    expectedStatuses: [401, 404, 404, 424, 424, 404, 424],
    body: {},
  },
  'GET /api/mcp/:serverName/oauth/asked': {
    expectedStatuses: [401, 403, 403, 403, 403, 403, 403],
    query: 'for=nobody',
  },
  'GET /api/mcp/:serverName/oauth/initiate': {
    expectedStatuses: [302, 404, 404, 404, 404, 404, 404],
    query: 'flowId=unknown',
  },
  'POST /api/mcp/:serverName/oauth/initiate': {
    expectedStatuses: [401, 404, 404, 404, 404, 404, 404],
    body: { flowId: 'unknown', token: 'made up' },
  },
  'GET /api/mcp/:serverName/oauth/callback': {
    expectedStatuses: [302, 302, 302, 302, 302, 302, 302],
    query: 'state=unknown&code=made-up',
  },
  'POST /api/mcp/:serverName/oauth/bind': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404], body: {} },
  'POST /api/mcp/oauth/cancel/:serverName': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
    body: {},
  },
  'GET /api/mcp/oauth/status/:flowId': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404] },
  'GET /api/mcp/oauth/tokens/:flowId': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404] },
  'GET /api/mcp/:serverName/credentials': { expectedStatuses: [401, 404, 404, 200, 200, 404, 200] },
  'PATCH /api/mcp/:serverName/credentials/:label': {
    expectedStatuses: [401, 404, 404, 404, 404, 404, 404],
    body: { isDefault: true },
  },
  'DELETE /api/mcp/:serverName/credentials/:label': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404] },
  'PUT /api/mcp/:serverName/credential': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
    body: { accessToken: 'brought-along' },
  },
  'POST /api/mcp/:serverName/oauth/disconnect': {
    expectedStatuses: [401, 404, 404, 200, 200, 404, 200],
    body: {},
  },
  'GET /oauth/client/:file': { expectedStatuses: [404, 404, 404, 404, 404, 404, 404] },
  'GET /oauth/client/public/:file': { expectedStatuses: [404, 404, 404, 404, 404, 404, 404] },
  'GET /oauth/jwks.json': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /oauth/success': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /oauth/error': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'GET /oauth/result.js': { expectedStatuses: [200, 200, 200, 200, 200, 200, 200] },
  'POST /api/admin/credentials/diagnose': {
    expectedStatuses: [401, 403, 403, 403, 403, 404, 403],
    body: { serverName: '<server>', userId: 'nobody' },
  },
  'POST /api/admin/credentials/reauth': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    body: { serverName: '<server>' },
  },

  'GET /api/mcp/approvals': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/mcp/approvals/:id': {
    expectedStatuses: [401, 404, 404, 404, 404, 404, 404],
    body: { approve: true },
    params: { id: 'unknown' },
  },

  // The chat, each user's own. No model is configured here.
  'POST /api/chat': { expectedStatuses: [401, 409, 409, 409, 409, 409, 409], body: { text: 'hello' } },
  'GET /api/chat': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/chat/models': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/chat/:id': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404] },
  'PATCH /api/chat/:id': {
    expectedStatuses: [401, 404, 404, 404, 404, 404, 404],
    body: { title: 'Another' },
  },
  'DELETE /api/chat/:id': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404] },
  'POST /api/chat/:id/stop': { expectedStatuses: [401, 404, 404, 404, 404, 404, 404] },
  'POST /api/chat/:id/approvals/:callId': {
    expectedStatuses: [401, 404, 404, 404, 404, 404, 404],
    body: { approve: true },
  },
  'POST /api/chat/:id/connects/:callId': {
    expectedStatuses: [401, 404, 404, 404, 404, 404, 404],
    body: { connected: true },
  },

  // Defining servers.
  'GET /api/mcp/servers': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/mcp/servers': {
    expectedStatuses: [401, 403, 201, 201, 201, 201, 403],
    body: createDefinition('Another'),
  },
  'POST /api/mcp/servers/check': {
    expectedStatuses: [401, 403, 200, 200, 200, 200, 403],
    body: createDefinition('Another'),
  },
  'POST /api/mcp/discover-tools': {
    expectedStatuses: [401, 403, 200, 200, 200, 200, 403],
    body: { url: '<upstream>' },
  },
  'GET /api/mcp/servers/:serverName': { expectedStatuses: [401, 404, 404, 200, 200, 200, 200] },
  'PATCH /api/mcp/servers/:serverName': {
    expectedStatuses: [401, 403, 404, 200, 200, 200, 403],
    body: createDefinition('Renamed'),
  },
  'DELETE /api/mcp/servers/:serverName': { expectedStatuses: [401, 403, 404, 403, 200, 200, 403] },

  // Sharing them.
  'GET /api/permissions/search-principals': {
    expectedStatuses: [401, 403, 200, 200, 200, 200, 403],
    query: 'q=ad',
  },
  'GET /api/permissions/mcpServer/roles': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/permissions/mcpServer/effective/all': { expectedStatuses: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/permissions/mcpServer/:id/effective': { expectedStatuses: [401, 404, 404, 200, 200, 200, 200] },
  'GET /api/permissions/mcpServer/:id': { expectedStatuses: [401, 404, 404, 403, 200, 200, 200] },
  'PUT /api/permissions/mcpServer/:id': {
    expectedStatuses: [401, 403, 404, 403, 200, 200, 403],
    body: { updated: [], removed: [], public: false },
  },

  // Roles, as a front end asks for them.
  'GET /api/roles/:role': {
    expectedStatuses: [401, 403, 200, 200, 200, 200, 403],
    params: { role: 'CREATOR' },
  },
  'PUT /api/roles/:role/mcp-servers': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    params: { role: 'CREATOR' },
    body: { USE: true, CREATE: true, SHARE: true },
  },

  // Administration.
  'GET /api/admin/connections': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/stats': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/config': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
  'POST /api/admin/reload': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/mcp/servers': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/mcp/servers/:serverName': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    params: { serverName: 'shared' },
  },
  'PUT /api/admin/mcp/servers/:serverName': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    params: { serverName: 'shared' },
    body: { config: { title: 'Overridden' } },
  },
  'DELETE /api/admin/mcp/servers/:serverName': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    params: { serverName: 'shared' },
  },
  'GET /api/admin/roles': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
  'POST /api/admin/roles': {
    expectedStatuses: [401, 403, 403, 403, 403, 201, 403],
    body: { name: 'GUEST', permissions: { MCP_SERVERS: { USE: true } } },
  },
  'GET /api/admin/roles/:name': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    params: { name: 'GUEST' },
  },
  'PATCH /api/admin/roles/:name': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    params: { name: 'GUEST' },
    body: { permissions: { MCP_SERVERS: { USE: false } } },
  },
  'DELETE /api/admin/roles/:name': {
    expectedStatuses: [401, 403, 403, 403, 403, 204, 403],
    params: { name: 'GUEST' },
  },
  'GET /api/admin/users': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/users/:id': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    params: { id: 'BYSTANDER' },
  },
  'PATCH /api/admin/users/:id': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    params: { id: 'BYSTANDER' },
    body: { disabled: true },
  },
  'GET /api/admin/users/:id/sessions': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    params: { id: 'BYSTANDER' },
  },
  'DELETE /api/admin/users/:id/sessions': {
    expectedStatuses: [401, 403, 403, 403, 403, 200, 403],
    params: { id: 'BYSTANDER' },
  },
  'DELETE /api/admin/users/:id/sessions/:session': {
    expectedStatuses: [401, 403, 403, 403, 403, 404, 403],
    params: { id: 'BYSTANDER' },
  },
  'GET /api/admin/audit': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/audit/export': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/audit/verify': { expectedStatuses: [401, 403, 403, 403, 403, 200, 403] },
};
