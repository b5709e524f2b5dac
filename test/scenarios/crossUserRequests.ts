import fc from 'fast-check';

/** A request of somebody who is signed in. */
export interface CrossUserRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The server that is meant, by name and by id. */
export interface TargetServer {
  readonly name: string;
  readonly id: string;
}

const mergePatchHeaders = { 'content-type': 'application/merge-patch+json' };
const attackerConfig = { type: 'streamable-http', url: 'http://127.0.0.1:9/mine', title: 'Mine' };

/** Every way to ask for a certain server, with what somebody would send who wants to read it or to take it. */
export function createRequestsFor(
  { name, id }: TargetServer,
  userId: string,
  ownerId: string,
): Record<string, CrossUserRequest> {
  const server = `/api/mcp/servers/${encodeURIComponent(name)}`;
  const serverPath = `/api/mcp/${encodeURIComponent(name)}`;
  const sharing = `/api/permissions/mcpServer/${encodeURIComponent(id)}`;
  const takeoverSharing = {
    updated: [{ type: 'user', id: userId, accessRoleId: 'mcpServer_owner' }],
    removed: [{ type: 'user', id: ownerId }],
    public: false,
  };
  const values = { pluginKey: `mcp_${name}`, auth: { MCP_API_KEY: 'of a stranger' } };
  const post = (path: string, body: unknown): CrossUserRequest => ({ method: 'POST', path, body });
  return {
    view: { method: 'GET', path: server },
    change: { method: 'PATCH', path: server, body: { config: attackerConfig } },
    changeOld: {
      method: 'PATCH',
      path: server,
      body: { config: attackerConfig },
      headers: { 'if-match': '"7"' },
    },
    merge: {
      method: 'PATCH',
      path: server,
      body: { config: { url: attackerConfig.url } },
      headers: mergePatchHeaders,
    },
    remove: { method: 'DELETE', path: server },
    sharing: { method: 'GET', path: sharing },
    bits: { method: 'GET', path: `${sharing}/effective` },
    share: { method: 'PUT', path: sharing, body: takeoverSharing },
    makePublic: {
      method: 'PUT',
      path: sharing,
      body: { public: true, publicAccessRoleId: 'mcpServer_viewer' },
    },
    values: { method: 'GET', path: `${serverPath}/auth-values` },
    enter: post('/api/user/plugins', { ...values, action: 'install' }),
    forget: post('/api/user/plugins', { ...values, action: 'uninstall' }),
    forgetAll: post('/api/user/plugins', { pluginKey: values.pluginKey, action: 'uninstall' }),
    call: post(`${server}/tools/echo/call`, { arguments: {} }),
    callUnknown: post(`${server}/tools/none/call`, { arguments: {} }),
    read: post(`${server}/resources/read`, { uri: 'test:one' }),
    prompt: post(`${server}/prompts/greet/get`, {}),
    resources: { method: 'GET', path: `${server}/resources` },
    templates: { method: 'GET', path: `${server}/resources/templates` },
    prompts: { method: 'GET', path: `${server}/prompts` },
    reinitialize: post(`${serverPath}/reinitialize`, {}),
    status: { method: 'GET', path: `/api/mcp/connection/status/${encodeURIComponent(name)}` },
    override: {
      method: 'PUT',
      path: `/api/admin/mcp/servers/${encodeURIComponent(name)}`,
      body: { config: attackerConfig },
    },
    overridden: { method: 'GET', path: `/api/admin/mcp/servers/${encodeURIComponent(name)}` },
  };
}

/** What names no server: lists, searches, and making one of the same name. */
const generalRequests: readonly CrossUserRequest[] = [
  { method: 'GET', path: '/api/mcp/servers' },
  { method: 'GET', path: '/api/mcp/servers?search=hid&limit=5' },
  { method: 'GET', path: '/api/mcp/tools' },
  { method: 'GET', path: '/api/mcp/connection/status' },
  { method: 'GET', path: '/api/mcp/approvals' },
  { method: 'GET', path: '/api/permissions/mcpServer/effective/all' },
  { method: 'GET', path: '/api/permissions/search-principals?q=hid' },
  { method: 'GET', path: '/api/admin/mcp/servers' },
  { method: 'GET', path: '/api/admin/audit/export' },
];

/** Which server: that of the other user, written in some way, or one of their own. */
type TargetForm = 'name' | 'id' | 'upper' | 'blank' | 'dots' | 'own';
export interface RequestStep {
  readonly targetForm: TargetForm;
  readonly kind: string;
  readonly generalIndex: number;
}

/** `create` makes a server of their own; what it is called collides with the other's. */
export const requestSteps: fc.Arbitrary<RequestStep[]> = fc.array(
  fc.record({
    targetForm: fc.constantFrom<TargetForm>('name', 'name', 'name', 'id', 'upper', 'blank', 'dots', 'own'),
    kind: fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom(...Object.keys(createRequestsFor({ name: '', id: '' }, '', ''))),
      },
      { weight: 1, arbitrary: fc.constant('create') },
      { weight: 2, arbitrary: fc.constant('general') },
    ),
    generalIndex: fc.nat(generalRequests.length - 1),
  }),
  { minLength: 1, maxLength: 25 },
);

export interface CrossUserTargets {
  readonly otherServer: TargetServer;
  /** The one this user made last. */
  readonly ownServer: TargetServer | undefined;
  readonly userId: string;
  readonly ownerId: string;
  /** Where a server of their own may be. */
  readonly upstreamUrl: string;
}

export function toRequest(
  { targetForm, kind, generalIndex }: RequestStep,
  context: CrossUserTargets,
): CrossUserRequest {
  const { otherServer, ownServer, userId, ownerId, upstreamUrl } = context;
  const config = { type: 'streamable-http', url: upstreamUrl, title: otherServer.name };
  if (kind === 'create') return { method: 'POST', path: '/api/mcp/servers', body: { config } };
  if (kind === 'general') return generalRequests[generalIndex]!;
  const targets: Record<TargetForm, TargetServer> = {
    name: otherServer,
    id: { name: otherServer.id, id: otherServer.name },
    upper: { name: otherServer.name.toUpperCase(), id: otherServer.id.toUpperCase() },
    blank: { name: `${otherServer.name} `, id: `${otherServer.id} ` },
    dots: { name: `./${otherServer.name}`, id: `../mcpServer/${otherServer.id}` },
    own: ownServer ?? otherServer,
  };
  return createRequestsFor(targets[targetForm], userId, ownerId)[kind]!;
}

/** Whether it can only be refused. */
export function targetsOtherUser(
  { targetForm, kind }: RequestStep,
  { ownServer }: CrossUserTargets,
): boolean {
  return kind !== 'create' && kind !== 'general' && (targetForm !== 'own' || ownServer === undefined);
}
