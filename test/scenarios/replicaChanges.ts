import { expectStatus, waitUntil, waitForResponse, type Replicas } from './replicas.ts';

/** What happens at one replica. Each ends when the other one knows of it, having believed the contrary before. */
export const replicaChanges = {
  async smallerRole({ admin, nextUser }: Replicas): Promise<void> {
    const { id, second } = nextUser('ADMIN');
    await expectStatus(200, second.get('/api/admin/roles'));
    await expectStatus(200, admin.first.send('PATCH', `/api/admin/users/${id}`, { role: 'USER' }));
    await waitForResponse('the smaller role', () => second.get('/api/admin/roles'), 403);
  },

  async lessAllowed({ admin, nextUser }: Replicas): Promise<void> {
    const { second } = nextUser('READER');
    const setUsePermission = (USE: boolean) =>
      expectStatus(200, admin.first.send('PUT', '/api/roles/READER/mcp-servers', { USE }));
    await waitForResponse('the role', () => second.get('/api/mcp/servers'), 200);
    await setUsePermission(false);
    await waitForResponse('what the role allows', () => second.get('/api/mcp/servers'), 403);
    await setUsePermission(true);
    await waitForResponse('what the role allows again', () => second.get('/api/mcp/servers'), 200);
  },

  async deletedServer({ nextUser, createServerOf, upstream }: Replicas): Promise<void> {
    const owner = nextUser('MAKER');
    const { name } = await createServerOf(owner);
    const session = await openSession(upstream, () => owner.second.call(name, 'echo'));
    await expectStatus(200, owner.first.send('DELETE', `/api/mcp/servers/${name}`));
    await waitForResponse('the deletion', () => owner.second.get(`/api/mcp/servers/${name}`), 404);
    await waitUntil('the end of its session', () => !upstream.sessions.has(session));
  },

  async override({ admin }: Replicas): Promise<void> {
    const title = 'Overridden here';
    await expectStatus(200, admin.second.get('/api/mcp/servers/shared'));
    await expectStatus(200, admin.first.send('PUT', '/api/admin/mcp/servers/shared', { config: { title } }));
    const readServer = () => admin.second.get('/api/mcp/servers/shared');
    await waitForResponse('the override', readServer, 200, (body) => body.includes(title));
    await expectStatus(200, admin.first.send('DELETE', '/api/admin/mcp/servers/shared'));
    await waitForResponse('the end of the override', readServer, 200, (body) => !body.includes(title));
  },

  async signOut({ nextUser, createServerOf, upstream }: Replicas): Promise<void> {
    const { first, second } = nextUser('MAKER');
    const { name } = await createServerOf({ id: first.id, first, second });
    const session = await openSession(upstream, () => second.call(name, 'echo'));
    await expectStatus(204, first.post('/api/auth/logout'));
    await waitForResponse('the sign-out', () => second.get('/api/user'), 401);
    const isSessionDelete = ({ verb, headers }: (typeof upstream.requests)[number]) =>
      verb === 'DELETE' && headers['mcp-session-id'] === session;
    await waitUntil('the goodbye to the server', () => upstream.requests.some(isSessionDelete));
  },

  async deletedKey({ nextUser }: Replicas): Promise<void> {
    const { first, second } = nextUser('USER');
    const { key, id } = await expectStatus(
      201,
      first.post('/api/user/keys', { name: 'laptop', scopes: ['mcp'] }),
    );
    // Their cookie does not count beside a token.
    const getWithKey = () => second.get('/api/mcp/servers', { authorization: `Bearer ${key}` });
    await expectStatus(200, getWithKey());
    await expectStatus(204, first.send('DELETE', `/api/user/keys/${id}`));
    await waitForResponse('the end of the key', getWithKey, 401);
  },

  async sharedNoLonger({ nextUser, createServerOf }: Replicas): Promise<void> {
    const owner = nextUser('MAKER');
    const viewer = nextUser('USER');
    const { name, id } = await createServerOf(owner);
    const updateSharing = (change: object) =>
      expectStatus(
        200,
        owner.first.send('PUT', `/api/permissions/mcpServer/${id}`, { public: false, ...change }),
      );
    const principal = { type: 'user', id: viewer.id };
    await updateSharing({ updated: [{ ...principal, accessRoleId: 'mcpServer_viewer' }] });
    await waitForResponse('the sharing', () => viewer.second.get(`/api/mcp/servers/${name}`), 200);
    await updateSharing({ removed: [principal] });
    await waitForResponse('its end', () => viewer.second.get(`/api/mcp/servers/${name}`), 404);
  },
} as const;

/** The session at the server that a call opens. */
async function openSession(
  upstream: Replicas['upstream'],
  call: () => Promise<{ status: number }>,
): Promise<string> {
  const earlierSessions = new Set(upstream.sessions);
  const { status } = await call();
  const newSession = [...upstream.sessions].find((session) => !earlierSessions.has(session));
  if (status !== 200 || newSession === undefined) throw new Error(`The call opened no session (${status})`);
  return newSession;
}
