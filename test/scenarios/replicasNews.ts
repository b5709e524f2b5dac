import { must, untilSeen, untilThere, type Replicas } from './replicas.ts';

/** What happens at one replica. Each ends when the other one knows of it, having believed the contrary before. */
export const news = {
  async smallerRole({ admin, person }: Replicas): Promise<void> {
    const { id, other } = person('ADMIN');
    await must(200, other.get('/api/admin/roles'));
    await must(200, admin.one.send('PATCH', `/api/admin/users/${id}`, { role: 'USER' }));
    await untilThere('the smaller role', () => other.get('/api/admin/roles'), 403);
  },

  async lessAllowed({ admin, person }: Replicas): Promise<void> {
    const { other } = person('READER');
    const permit = (USE: boolean) =>
      must(200, admin.one.send('PUT', '/api/roles/READER/mcp-servers', { USE }));
    await untilThere('the role', () => other.get('/api/mcp/servers'), 200);
    await permit(false);
    await untilThere('what the role allows', () => other.get('/api/mcp/servers'), 403);
    await permit(true);
    await untilThere('what the role allows again', () => other.get('/api/mcp/servers'), 200);
  },

  async deletedServer({ person, serverOf, upstream }: Replicas): Promise<void> {
    const owner = person('MAKER');
    const { name } = await serverOf(owner);
    const session = await sessionOf(upstream, () => owner.other.call(name, 'echo'));
    await must(200, owner.one.send('DELETE', `/api/mcp/servers/${name}`));
    await untilThere('the deletion', () => owner.other.get(`/api/mcp/servers/${name}`), 404);
    await untilSeen('the end of its session', () => !upstream.sessions.has(session));
  },

  async override({ admin }: Replicas): Promise<void> {
    const title = 'Overridden here';
    await must(200, admin.other.get('/api/mcp/servers/shared'));
    await must(200, admin.one.send('PUT', '/api/admin/mcp/servers/shared', { config: { title } }));
    const ask = () => admin.other.get('/api/mcp/servers/shared');
    await untilThere('the override', ask, 200, (body) => body.includes(title));
    await must(200, admin.one.send('DELETE', '/api/admin/mcp/servers/shared'));
    await untilThere('the end of the override', ask, 200, (body) => !body.includes(title));
  },

  async signOut({ person, serverOf, upstream }: Replicas): Promise<void> {
    const { one, other } = person('MAKER');
    const { name } = await serverOf({ id: one.id, one, other });
    const session = await sessionOf(upstream, () => other.call(name, 'echo'));
    await must(204, one.post('/api/auth/logout'));
    await untilThere('the sign-out', () => other.get('/api/user'), 401);
    const isTheir = ({ verb, headers }: (typeof upstream.requests)[number]) =>
      verb === 'DELETE' && headers['mcp-session-id'] === session;
    await untilSeen('the goodbye to the server', () => upstream.requests.some(isTheir));
  },

  async deletedKey({ person }: Replicas): Promise<void> {
    const { one, other } = person('USER');
    const { key, id } = await must(201, one.post('/api/user/keys', { name: 'laptop', scopes: ['mcp'] }));
    // Their cookie does not count beside a token.
    const byKey = () => other.get('/api/mcp/servers', { authorization: `Bearer ${key}` });
    await must(200, byKey());
    await must(204, one.send('DELETE', `/api/user/keys/${id}`));
    await untilThere('the end of the key', byKey, 401);
  },

  async sharedNoLonger({ person, serverOf }: Replicas): Promise<void> {
    const owner = person('MAKER');
    const viewer = person('USER');
    const { name, id } = await serverOf(owner);
    const share = (change: object) =>
      must(200, owner.one.send('PUT', `/api/permissions/mcpServer/${id}`, { public: false, ...change }));
    const who = { type: 'user', id: viewer.id };
    await share({ updated: [{ ...who, accessRoleId: 'mcpServer_viewer' }] });
    await untilThere('the sharing', () => viewer.other.get(`/api/mcp/servers/${name}`), 200);
    await share({ removed: [who] });
    await untilThere('its end', () => viewer.other.get(`/api/mcp/servers/${name}`), 404);
  },
} as const;

/** The session at the server that a call opens. */
async function sessionOf(
  upstream: Replicas['upstream'],
  call: () => Promise<{ status: number }>,
): Promise<string> {
  const before = new Set(upstream.sessions);
  const { status } = await call();
  const opened = [...upstream.sessions].find((session) => !before.has(session));
  if (status !== 200 || opened === undefined) throw new Error(`The call opened no session (${status})`);
  return opened;
}
