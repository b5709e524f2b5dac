import { CredentialsView, FlowView } from '@behalf/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GatewayBrowser, readLocation, createOAuthRig, type OAuthRig } from './oauthRig.ts';

const json = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;

describe('one’s own credentials at a server, over HTTP', () => {
  let rig: OAuthRig;
  let browser: GatewayBrowser;
  beforeAll(async () => {
    rig = await createOAuthRig();
    browser = new GatewayBrowser(rig.gateway.url, rig.ada);
  }, 60_000);
  afterAll(() => rig.close());

  /** From our own button to the result page. */
  async function connect(): Promise<void> {
    const { connectUrl } = FlowView.parse(await json(await browser.post('/api/mcp/files/oauth/start')));
    const back = await browser.open(readLocation(await browser.open(connectUrl)));
    expect(readLocation(await browser.open(readLocation(back))).pathname).toBe('/oauth/success');
  }

  test('a token from elsewhere is taken, used, chosen and ended', async () => {
    const { ada, as, mcp } = rig;
    as.addClient({ clientId: 'elsewhere', authMethod: 'none' });
    const { accessToken } = as.grant({ clientId: 'elsewhere', resource: mcp.url, scope: 'mcp:read' });
    const put = (body: object) => ada.send('PUT', '/api/mcp/files/credential', body);
    expect((await put({ accessToken: '' })).status).toBe(400);
    const refused = await put({ accessToken: 'made-up' });
    expect([refused.status, (await json(refused))['code']]).toEqual([422, 'MCP_TOKEN_REFUSED']);
    expect(
      CredentialsView.parse(await json(await ada.get('/api/mcp/files/credentials'))).credentials.filter(
        ({ kind }) => kind === 'static',
      ),
    ).toEqual([]);
    expect((await put({ accessToken, issuer: 'https://other.example' })).status).toBe(409);
    const stored = await put({ accessToken, expiresIn: 3_600, label: 'brought' });
    expect([stored.status, await json(stored)]).toEqual([
      200,
      expect.objectContaining({ kind: 'static', probe: 'ok' }),
    ]);
    expect((await ada.call('files', 'echo')).body.isError).not.toBe(true);
    expect(mcp.guardedRequests.at(-1)?.bearer).toBe(accessToken);
    await connect();
    const chosen = await json(
      await ada.send('PATCH', '/api/mcp/files/credentials/default', { isDefault: true }),
    );
    expect(chosen).toMatchObject({ label: 'default', isDefault: true });
    await ada.call('files', 'echo');
    expect(mcp.guardedRequests.at(-1)?.bearer).not.toBe(accessToken);
    expect((await ada.send('PATCH', '/api/mcp/files/credentials/none', { isDefault: true })).status).toBe(
      404,
    );
    expect(await json(await ada.send('DELETE', '/api/mcp/files/credentials/brought'))).toMatchObject({
      disconnected: true,
    });
    expect((await ada.send('DELETE', '/api/mcp/files/credentials/none')).status).toBe(404);
    expect((await ada.call('files', 'echo')).body.isError).not.toBe(true);
  });

  test('what could not stand in a header is not taken', async () => {
    const put = (body: object) => rig.ada.send('PUT', '/api/mcp/files/credential', body);
    for (const body of [
      { accessToken: 'two words' },
      { accessToken: 'line\r\nX-Evil: 1' },
      { accessToken: 'ünicode' },
      { accessToken: 'good', refreshToken: 'not good' },
      { accessToken: 'good', expiresIn: 10 * 365 * 24 * 60 * 60 + 1 },
      { accessToken: 'good', expiresIn: 0 },
    ]) {
      const answer = await put(body);
      expect([body, answer.status, (await json(answer))['code']]).toEqual([body, 400, 'REQUEST_INVALID']);
    }
  });

  test('a key that may only call brings, chooses and ends nothing', async () => {
    const { ada, as, mcp, gateway } = rig;
    as.addClient({ clientId: 'leaked', authMethod: 'none' });
    const { accessToken } = as.grant({ clientId: 'leaked', resource: mcp.url });
    for (const [scopes, isAllowed] of [
      [['mcp'], false],
      [['mcp', 'servers'], true],
    ] as const) {
      const { key } = await json(await ada.post('/api/user/keys', { name: 'key', scopes }));
      const send = (method: string, path: string, body?: object) =>
        fetch(`${gateway.url}/api/mcp/files/${path}`, {
          method,
          headers: { authorization: `Bearer ${String(key)}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        });
      for (const request of [
        () => send('PUT', 'credential', { accessToken, label: 'by key' }),
        () => send('PATCH', 'credentials/by%20key', { isDefault: true }),
        () => send('DELETE', 'credentials/by%20key'),
        () => send('POST', 'oauth/disconnect', {}),
      ]) {
        const answer = await request();
        expect([scopes, answer.status]).toEqual([scopes, isAllowed ? 200 : 403]);
      }
      expect((await send('GET', 'credentials')).status).toBe(200);
    }
  });

  test('an administrator can ask everybody to sign in again', async () => {
    const { ada, admin } = rig;
    await connect();
    expect((await ada.post('/api/admin/credentials/reauth', { serverName: 'files' })).status).toBe(403);
    expect((await admin.post('/api/admin/credentials/reauth', { serverName: 'none' })).status).toBe(404);
    expect(await json(await admin.post('/api/admin/credentials/reauth', { serverName: 'files' }))).toEqual({
      marked: 1,
    });
    const { credentials } = CredentialsView.parse(await json(await ada.get('/api/mcp/files/credentials')));
    expect(credentials.find(({ label }) => label === 'default')).toMatchObject({
      status: 'rejected',
      reason: 'interaction_required',
    });
  });

  test('connecting, disconnecting, importing and asking again are written down, and no secret is told', async () => {
    const { admin, ada, as } = rig;
    await connect();
    const bring = (accessToken: string) =>
      ada.send('PUT', '/api/mcp/files/credential', { accessToken, label: 'brought' });
    expect((await bring('pl4nted-token')).status).toBe(422);
    as.addClient({ clientId: 'abroad', authMethod: 'none' });
    expect((await bring(as.grant({ clientId: 'abroad', resource: rig.mcp.url }).accessToken)).status).toBe(
      200,
    );
    await ada.send('PATCH', '/api/mcp/files/credentials/brought', { isDefault: true });
    await admin.post('/api/admin/credentials/reauth', { serverName: 'files' });
    await ada.post('/api/mcp/files/oauth/disconnect');
    const audit = await (await admin.get('/api/admin/audit?kind=credential&limit=200')).text();
    for (const action of [
      'oauth.connect',
      'oauth.disconnect',
      'credential.import',
      'credential.choose',
      'credential.reauth',
    ]) {
      expect(audit).toContain(`"${action}"`);
    }
    // Also what was refused.
    expect(audit).toContain('"MCP_TOKEN_REFUSED"');
    const serialized = audit + JSON.stringify(rig.gateway.logged);
    for (const secret of [...as.secrets, 'pl4nted-token']) expect(serialized).not.toContain(secret);
  });
});
