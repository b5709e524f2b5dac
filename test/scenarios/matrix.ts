/** Who asks. `former` wrote a server while their role let them, and their role was taken down since. */
export const actors = ['anonymous', 'user', 'creator', 'editor', 'owner', 'admin', 'former'] as const;
export type Actor = (typeof actors)[number];

/** What one of them sends: the names in the path are those of the actor's own case unless the row says otherwise. */
export interface Row {
  /** One status for each of `actors`, in their order. */
  readonly expect: readonly [number, number, number, number, number, number, number];
  readonly body?: unknown;
  readonly query?: string;
  /** Named segments of the path; those that name a server, a user or a role have defaults. */
  readonly params?: Readonly<Record<string, string>>;
}

const definition = (title: string) => ({
  config: { type: 'streamable-http', url: '<upstream>', title },
});

/**
 * Every route with every kind of caller. A route that is missing here fails the test: the list of routes is the
 * router's own. `user` and `creator` have nothing to do with the server in question, so to them it does not exist.
 * An administrator looks after it without using it; `former` still uses it and may not change it any more.
 */
export const matrix: Readonly<Record<string, Row>> = {
  // Public doors.
  'GET /': { expect: [200, 200, 200, 200, 200, 200, 200] },
  // The interface: what it shows asks for itself.
  'GET /chat': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /chat/:id': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /tools': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /tools/:server': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /tools/:server/:tool': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /blocks': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /blocks/:id': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /blocks/:id/edit': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /sets': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /sets/:id': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /sets/:id/edit': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /servers': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /servers/:name': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /settings': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /admin': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /admin/:page': { expect: [302, 200, 200, 200, 200, 200, 200] },
  'GET /assets/:file': { expect: [404, 404, 404, 404, 404, 404, 404] },
  'GET /health': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /ready': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /style.css': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /setup': { expect: [403, 403, 403, 403, 403, 403, 403] },
  'GET /metrics': { expect: [401, 403, 403, 403, 403, 200, 403] },
  'POST /api/auth/setup': { expect: [400, 400, 400, 400, 400, 400, 400], body: {} },
  'POST /api/auth/login': { expect: [400, 400, 400, 400, 400, 400, 400], body: {} },
  // Of somebody who is not signed in; that it ends sessions is shown elsewhere.
  'POST /api/auth/logout': { expect: [204, 204, 204, 204, 204, 204, 204] },
  'GET /oauth/openid': { expect: [302, 302, 302, 302, 302, 302, 302] },
  'GET /oauth/openid/callback': { expect: [302, 302, 302, 302, 302, 302, 302] },
  'GET /.well-known/oauth-protected-resource': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /.well-known/oauth-protected-resource/mcp': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /.well-known/oauth-protected-resource/mcp/:serverName': {
    expect: [200, 200, 200, 200, 200, 200, 200],
  },

  // Our own authorization server. Nobody is known by its cookie here; the consent page asks for itself.
  'GET /.well-known/oauth-authorization-server/as': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /.well-known/openid-configuration/as': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /as/.well-known/openid-configuration': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /as/jwks': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /as/auth': { expect: [400, 400, 400, 400, 400, 400, 400] },
  'GET /as/auth/:uid': { expect: [400, 400, 400, 400, 400, 400, 400] },
  'POST /as/token': { expect: [400, 400, 400, 400, 400, 400, 400], body: {} },
  'POST /as/token/revocation': { expect: [400, 400, 400, 400, 400, 400, 400], body: {} },
  'POST /as/reg': { expect: [400, 400, 400, 400, 400, 400, 400], body: {} },
  'GET /as/interaction/:uid': { expect: [400, 400, 400, 400, 400, 400, 400] },
  'POST /as/interaction/:uid': { expect: [401, 400, 400, 400, 400, 400, 400], body: {} },

  // One's own account.
  'GET /api/user': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/user/keys': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/user/keys': {
    expect: [401, 201, 201, 201, 201, 201, 201],
    body: { name: 'laptop', scopes: ['mcp'] },
  },
  'DELETE /api/user/keys/:id': { expect: [401, 404, 404, 404, 404, 404, 404], params: { id: 'unknown' } },
  'GET /api/user/sessions': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'DELETE /api/user/sessions/:session': { expect: [401, 404, 404, 404, 404, 404, 404] },

  'GET /api/user/clients': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'DELETE /api/user/clients/:id': { expect: [401, 404, 404, 404, 404, 404, 404], params: { id: 'unknown' } },

  // Using servers.
  'GET /api/mcp/tools': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/mcp/servers/:serverName/tools/:toolName/call': {
    expect: [401, 404, 404, 200, 200, 404, 200],
    body: { arguments: {} },
  },
  'GET /api/mcp/servers/:serverName/tools': { expect: [401, 404, 404, 200, 200, 404, 200] },
  'POST /api/mcp/servers/:serverName/resources/read': {
    expect: [401, 404, 404, 200, 200, 404, 200],
    body: { uri: 'test:one' },
  },
  'POST /api/mcp/servers/:serverName/prompts/:promptName/get': {
    expect: [401, 404, 404, 200, 200, 404, 200],
    body: { arguments: {} },
  },
  'GET /api/mcp/servers/:serverName/resources': { expect: [401, 404, 404, 200, 200, 404, 200] },
  'GET /api/mcp/servers/:serverName/resources/templates': { expect: [401, 404, 404, 200, 200, 404, 200] },
  'GET /api/mcp/servers/:serverName/prompts': { expect: [401, 404, 404, 200, 200, 404, 200] },
  // For programs: the cookie of a session opens nothing here, so that everybody is told the same.
  'POST /mcp': { expect: [401, 401, 401, 401, 401, 401, 401], body: {} },
  'GET /mcp': { expect: [401, 401, 401, 401, 401, 401, 401] },
  'DELETE /mcp': { expect: [401, 401, 401, 401, 401, 401, 401] },
  'POST /mcp/:serverName': { expect: [401, 401, 401, 401, 401, 401, 401], body: {} },
  'GET /mcp/:serverName': { expect: [401, 401, 401, 401, 401, 401, 401] },
  'DELETE /mcp/:serverName': { expect: [401, 401, 401, 401, 401, 401, 401] },
  // That a server is not there is what the diagnosis says.
  'POST /api/mcp/:serverName/diagnose': { expect: [401, 200, 200, 200, 200, 200, 200], body: {} },
  'POST /api/mcp/:serverName/reinitialize': { expect: [401, 404, 404, 200, 200, 404, 200], body: {} },
  'GET /api/mcp/connection/status': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/mcp/connection/status/:serverName': { expect: [401, 404, 404, 200, 200, 404, 200] },
  'GET /api/mcp/:serverName/auth-values': { expect: [401, 404, 404, 200, 200, 404, 200] },
  'POST /api/user/plugins': {
    expect: [401, 404, 404, 200, 200, 404, 200],
    body: { pluginKey: 'mcp_<server>', action: 'uninstall', auth: {} },
  },

  // Blocks: of the owner with the server in question, shared with the editor as the server is; of `former` their own.
  'GET /api/mcp/blocks': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/mcp/blocks': {
    expect: [401, 404, 404, 201, 201, 404, 201],
    body: { server: '<server>', tool: 'echo' },
  },
  'POST /api/mcp/blocks/check': { expect: [401, 200, 200, 200, 200, 200, 200], body: { ids: ['unknown'] } },
  'GET /api/mcp/blocks/:id': { expect: [401, 404, 404, 200, 200, 404, 200] },
  'PATCH /api/mcp/blocks/:id': {
    expect: [401, 404, 404, 200, 200, 404, 200],
    body: { title: 'Renamed', inputs: {} },
  },
  'POST /api/mcp/blocks/:id/run': { expect: [401, 404, 404, 200, 200, 404, 200], body: {} },
  'DELETE /api/mcp/blocks/:id': { expect: [401, 404, 404, 403, 204, 404, 204] },
  'GET /api/permissions/block/:id': { expect: [401, 404, 404, 403, 200, 404, 200] },
  'PUT /api/permissions/block/:id': {
    expect: [401, 403, 404, 403, 200, 404, 403],
    body: { updated: [], removed: [], public: false },
  },

  // Sets: of the owner's block, shared as that is; of `former` their own. Nobody has a run yet that anybody could name.
  'GET /api/mcp/sets': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/mcp/sets': {
    expect: [401, 400, 400, 201, 201, 400, 201],
    body: { title: 'Set', steps: [{ key: 'a', block: '<block>' }] },
  },
  'GET /api/mcp/sets/:id': { expect: [401, 404, 404, 200, 200, 404, 200] },
  'PATCH /api/mcp/sets/:id': { expect: [401, 404, 404, 200, 200, 404, 200], body: { title: 'Renamed' } },
  'POST /api/mcp/sets/:id/check': { expect: [401, 404, 404, 200, 200, 404, 200], body: {} },
  'POST /api/mcp/sets/:id/run': { expect: [401, 404, 404, 202, 202, 404, 202], body: {} },
  'GET /api/mcp/sets/:id/runs': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'DELETE /api/mcp/sets/:id': { expect: [401, 404, 404, 403, 204, 404, 204] },
  'GET /api/mcp/runs/:runId': { expect: [401, 404, 404, 404, 404, 404, 404] },
  'POST /api/mcp/runs/:runId/cancel': { expect: [401, 404, 404, 404, 404, 404, 404], body: {} },
  'POST /api/mcp/runs/:runId/resume': { expect: [401, 404, 404, 404, 404, 404, 404], body: {} },
  'GET /api/permissions/set/:id': { expect: [401, 404, 404, 403, 200, 404, 200] },
  'PUT /api/permissions/set/:id': {
    expect: [401, 403, 404, 403, 200, 404, 403],
    body: { updated: [], removed: [], public: false },
  },

  // Signing in at servers. This one says nothing of where that is done.
  'POST /api/mcp/:serverName/oauth/start': { expect: [401, 404, 404, 424, 424, 404, 424], body: {} },
  'GET /api/mcp/:serverName/oauth/asked': {
    expect: [401, 403, 403, 403, 403, 403, 403],
    query: 'for=nobody',
  },
  'GET /api/mcp/:serverName/oauth/initiate': {
    expect: [302, 404, 404, 404, 404, 404, 404],
    query: 'flowId=unknown',
  },
  'POST /api/mcp/:serverName/oauth/initiate': {
    expect: [401, 404, 404, 404, 404, 404, 404],
    body: { flowId: 'unknown', token: 'made up' },
  },
  'GET /api/mcp/:serverName/oauth/callback': {
    expect: [302, 302, 302, 302, 302, 302, 302],
    query: 'state=unknown&code=made-up',
  },
  'POST /api/mcp/:serverName/oauth/bind': { expect: [401, 404, 404, 404, 404, 404, 404], body: {} },
  'POST /api/mcp/oauth/cancel/:serverName': { expect: [401, 404, 404, 200, 200, 404, 200], body: {} },
  'GET /api/mcp/oauth/status/:flowId': { expect: [401, 404, 404, 404, 404, 404, 404] },
  'GET /api/mcp/oauth/tokens/:flowId': { expect: [401, 404, 404, 404, 404, 404, 404] },
  'GET /api/mcp/:serverName/credentials': { expect: [401, 404, 404, 200, 200, 404, 200] },
  'PATCH /api/mcp/:serverName/credentials/:label': {
    expect: [401, 404, 404, 404, 404, 404, 404],
    body: { isDefault: true },
  },
  'DELETE /api/mcp/:serverName/credentials/:label': { expect: [401, 404, 404, 404, 404, 404, 404] },
  'PUT /api/mcp/:serverName/credential': {
    expect: [401, 404, 404, 200, 200, 404, 200],
    body: { accessToken: 'brought-along' },
  },
  'POST /api/mcp/:serverName/oauth/disconnect': { expect: [401, 404, 404, 200, 200, 404, 200], body: {} },
  'GET /oauth/client/:file': { expect: [404, 404, 404, 404, 404, 404, 404] },
  'GET /oauth/client/public/:file': { expect: [404, 404, 404, 404, 404, 404, 404] },
  'GET /oauth/jwks.json': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /oauth/success': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /oauth/error': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'GET /oauth/result.js': { expect: [200, 200, 200, 200, 200, 200, 200] },
  'POST /api/admin/credentials/diagnose': {
    expect: [401, 403, 403, 403, 403, 404, 403],
    body: { serverName: '<server>', userId: 'nobody' },
  },
  'POST /api/admin/credentials/reauth': {
    expect: [401, 403, 403, 403, 403, 200, 403],
    body: { serverName: '<server>' },
  },

  'GET /api/mcp/approvals': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/mcp/approvals/:id': {
    expect: [401, 404, 404, 404, 404, 404, 404],
    body: { approve: true },
    params: { id: 'unknown' },
  },

  // The chat, each user's own. No model is configured here.
  'POST /api/chat': { expect: [401, 409, 409, 409, 409, 409, 409], body: { text: 'hello' } },
  'GET /api/chat': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/chat/models': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/chat/:id': { expect: [401, 404, 404, 404, 404, 404, 404] },
  'PATCH /api/chat/:id': { expect: [401, 404, 404, 404, 404, 404, 404], body: { title: 'Another' } },
  'DELETE /api/chat/:id': { expect: [401, 404, 404, 404, 404, 404, 404] },
  'POST /api/chat/:id/stop': { expect: [401, 404, 404, 404, 404, 404, 404] },
  'POST /api/chat/:id/approvals/:callId': {
    expect: [401, 404, 404, 404, 404, 404, 404],
    body: { approve: true },
  },
  'POST /api/chat/:id/connects/:callId': {
    expect: [401, 404, 404, 404, 404, 404, 404],
    body: { connected: true },
  },

  // Defining servers.
  'GET /api/mcp/servers': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'POST /api/mcp/servers': { expect: [401, 403, 201, 201, 201, 201, 403], body: definition('Another') },
  'POST /api/mcp/servers/check': { expect: [401, 403, 200, 200, 200, 200, 403], body: definition('Another') },
  'POST /api/mcp/discover-tools': {
    expect: [401, 403, 200, 200, 200, 200, 403],
    body: { url: '<upstream>' },
  },
  'GET /api/mcp/servers/:serverName': { expect: [401, 404, 404, 200, 200, 200, 200] },
  'PATCH /api/mcp/servers/:serverName': {
    expect: [401, 403, 404, 200, 200, 200, 403],
    body: definition('Renamed'),
  },
  'DELETE /api/mcp/servers/:serverName': { expect: [401, 403, 404, 403, 200, 200, 403] },

  // Sharing them.
  'GET /api/permissions/search-principals': { expect: [401, 403, 200, 200, 200, 200, 403], query: 'q=ad' },
  'GET /api/permissions/mcpServer/roles': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/permissions/mcpServer/effective/all': { expect: [401, 200, 200, 200, 200, 200, 200] },
  'GET /api/permissions/mcpServer/:id/effective': { expect: [401, 404, 404, 200, 200, 200, 200] },
  'GET /api/permissions/mcpServer/:id': { expect: [401, 404, 404, 403, 200, 200, 200] },
  'PUT /api/permissions/mcpServer/:id': {
    expect: [401, 403, 404, 403, 200, 200, 403],
    body: { updated: [], removed: [], public: false },
  },

  // Roles, as a front end asks for them.
  'GET /api/roles/:role': { expect: [401, 403, 200, 200, 200, 200, 403], params: { role: 'CREATOR' } },
  'PUT /api/roles/:role/mcp-servers': {
    expect: [401, 403, 403, 403, 403, 200, 403],
    params: { role: 'CREATOR' },
    body: { USE: true, CREATE: true, SHARE: true },
  },

  // Administration.
  'GET /api/admin/connections': { expect: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/stats': { expect: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/config': { expect: [401, 403, 403, 403, 403, 200, 403] },
  'POST /api/admin/reload': { expect: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/mcp/servers': { expect: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/mcp/servers/:serverName': {
    expect: [401, 403, 403, 403, 403, 200, 403],
    params: { serverName: 'shared' },
  },
  'PUT /api/admin/mcp/servers/:serverName': {
    expect: [401, 403, 403, 403, 403, 200, 403],
    params: { serverName: 'shared' },
    body: { config: { title: 'Overridden' } },
  },
  'DELETE /api/admin/mcp/servers/:serverName': {
    expect: [401, 403, 403, 403, 403, 200, 403],
    params: { serverName: 'shared' },
  },
  'GET /api/admin/roles': { expect: [401, 403, 403, 403, 403, 200, 403] },
  'POST /api/admin/roles': {
    expect: [401, 403, 403, 403, 403, 201, 403],
    body: { name: 'GUEST', permissions: { MCP_SERVERS: { USE: true } } },
  },
  'GET /api/admin/roles/:name': { expect: [401, 403, 403, 403, 403, 200, 403], params: { name: 'GUEST' } },
  'PATCH /api/admin/roles/:name': {
    expect: [401, 403, 403, 403, 403, 200, 403],
    params: { name: 'GUEST' },
    body: { permissions: { MCP_SERVERS: { USE: false } } },
  },
  'DELETE /api/admin/roles/:name': { expect: [401, 403, 403, 403, 403, 204, 403], params: { name: 'GUEST' } },
  'GET /api/admin/users': { expect: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/users/:id': { expect: [401, 403, 403, 403, 403, 200, 403], params: { id: 'BYSTANDER' } },
  'PATCH /api/admin/users/:id': {
    expect: [401, 403, 403, 403, 403, 200, 403],
    params: { id: 'BYSTANDER' },
    body: { disabled: true },
  },
  'GET /api/admin/users/:id/sessions': {
    expect: [401, 403, 403, 403, 403, 200, 403],
    params: { id: 'BYSTANDER' },
  },
  'DELETE /api/admin/users/:id/sessions': {
    expect: [401, 403, 403, 403, 403, 200, 403],
    params: { id: 'BYSTANDER' },
  },
  'DELETE /api/admin/users/:id/sessions/:session': {
    expect: [401, 403, 403, 403, 403, 404, 403],
    params: { id: 'BYSTANDER' },
  },
  'GET /api/admin/audit': { expect: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/audit/export': { expect: [401, 403, 403, 403, 403, 200, 403] },
  'GET /api/admin/audit/verify': { expect: [401, 403, 403, 403, 403, 200, 403] },
};
