import fc from 'fast-check';

/** A request of somebody who is signed in. */
export interface StrangerRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The server that is meant, by name and by id. */
export interface Target {
  readonly name: string;
  readonly id: string;
}

const merge = { 'content-type': 'application/merge-patch+json' };
const evil = { type: 'streamable-http', url: 'http://127.0.0.1:9/mine', title: 'Mine' };

/** Every way to ask for a certain server, with what somebody would send who wants to read it or to take it. */
export function requestsFor(
  { name, id }: Target,
  me: string,
  owner: string,
): Record<string, StrangerRequest> {
  const server = `/api/mcp/servers/${encodeURIComponent(name)}`;
  const other = `/api/mcp/${encodeURIComponent(name)}`;
  const sharing = `/api/permissions/mcpServer/${encodeURIComponent(id)}`;
  const taken = {
    updated: [{ type: 'user', id: me, accessRoleId: 'mcpServer_owner' }],
    removed: [{ type: 'user', id: owner }],
    public: false,
  };
  const values = { pluginKey: `mcp_${name}`, auth: { MCP_API_KEY: 'of a stranger' } };
  const post = (path: string, body: unknown): StrangerRequest => ({ method: 'POST', path, body });
  return {
    view: { method: 'GET', path: server },
    change: { method: 'PATCH', path: server, body: { config: evil } },
    changeOld: { method: 'PATCH', path: server, body: { config: evil }, headers: { 'if-match': '"7"' } },
    merge: { method: 'PATCH', path: server, body: { config: { url: evil.url } }, headers: merge },
    remove: { method: 'DELETE', path: server },
    sharing: { method: 'GET', path: sharing },
    bits: { method: 'GET', path: `${sharing}/effective` },
    share: { method: 'PUT', path: sharing, body: taken },
    makePublic: {
      method: 'PUT',
      path: sharing,
      body: { public: true, publicAccessRoleId: 'mcpServer_viewer' },
    },
    values: { method: 'GET', path: `${other}/auth-values` },
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
    reinitialize: post(`${other}/reinitialize`, {}),
    status: { method: 'GET', path: `/api/mcp/connection/status/${encodeURIComponent(name)}` },
    override: {
      method: 'PUT',
      path: `/api/admin/mcp/servers/${encodeURIComponent(name)}`,
      body: { config: evil },
    },
    overridden: { method: 'GET', path: `/api/admin/mcp/servers/${encodeURIComponent(name)}` },
  };
}

/** What names no server: lists, searches, and making one of the same name. */
const generalRequests: readonly StrangerRequest[] = [
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
type Aim = 'name' | 'id' | 'upper' | 'blank' | 'dots' | 'own';
export interface Step {
  readonly aim: Aim;
  readonly kind: string;
  readonly general: number;
}

/** `create` makes a server of their own; what it is called collides with the other's. */
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    aim: fc.constantFrom<Aim>('name', 'name', 'name', 'id', 'upper', 'blank', 'dots', 'own'),
    kind: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...Object.keys(requestsFor({ name: '', id: '' }, '', ''))) },
      { weight: 1, arbitrary: fc.constant('create') },
      { weight: 2, arbitrary: fc.constant('general') },
    ),
    general: fc.nat(generalRequests.length - 1),
  }),
  { minLength: 1, maxLength: 25 },
);

export interface Scene {
  readonly theirs: Target;
  /** The one this user made last. */
  readonly own: Target | undefined;
  readonly me: string;
  readonly owner: string;
  /** Where a server of their own may be. */
  readonly upstream: string;
}

export function requestOf({ aim, kind, general }: Step, scene: Scene): StrangerRequest {
  const { theirs, own, me, owner, upstream } = scene;
  const config = { type: 'streamable-http', url: upstream, title: theirs.name };
  if (kind === 'create') return { method: 'POST', path: '/api/mcp/servers', body: { config } };
  if (kind === 'general') return generalRequests[general]!;
  const written: Record<Aim, Target> = {
    name: theirs,
    id: { name: theirs.id, id: theirs.name },
    upper: { name: theirs.name.toUpperCase(), id: theirs.id.toUpperCase() },
    blank: { name: `${theirs.name} `, id: `${theirs.id} ` },
    dots: { name: `./${theirs.name}`, id: `../mcpServer/${theirs.id}` },
    own: own ?? theirs,
  };
  return requestsFor(written[aim], me, owner)[kind]!;
}

/** Whether it can only be refused. */
export function aimsAtTheirs({ aim, kind }: Step, { own }: Scene): boolean {
  return kind !== 'create' && kind !== 'general' && (aim !== 'own' || own === undefined);
}
