import { FlowView } from '@behalf/contracts';
import { scriptedHttpServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { GatewayBrowser, readLocation, createOAuthRig } from './oauthRig.ts';
import { createUsers, type TestUser } from './users.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

const TOKEN = 'a-token-of-a-collector-1234567890';

describe('metrics', () => {
  const opened: { close(): Promise<void> }[] = [];
  let gateway: InProcessGateway;
  let ada: TestUser;
  let admin: string;

  beforeAll(async () => {
    const server = await scriptedHttpServer({
      era: 'legacy',
      tools: [{ name: 'echo' }, { name: 'fail', handler: () => ({ content: [], isError: true }) }],
    });
    opened.push(server);
    gateway = await startInProcess(
      { METRICS_TOKEN: TOKEN },
      renderYaml({
        plain: httpDefinition(server.url),
        mine: httpDefinition(server.url, { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } }),
      }),
    );
    opened.push(gateway);
    admin = await administrator(gateway);
    [ada] = (await createUsers(gateway, ['Ada'])) as [TestUser];
  });
  afterAll(async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
  });

  const read = (headers: Record<string, string>, at = gateway) =>
    fetch(new URL('/metrics', at.url), { headers });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  test('a collector with its token and an administrator may read them', async () => {
    for (const headers of [bearer(TOKEN), { authorization: `bearer  ${TOKEN}` }, { cookie: admin }]) {
      const response = await read(headers);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toContain('text/plain');
      expect(await response.text()).toContain('behalf_connections');
    }
  });

  test('nobody else may', async () => {
    const refused: [Record<string, string>, number, string][] = [
      [{}, 401, 'AUTH_REQUIRED'],
      [bearer('wrong'), 401, 'AUTH_REQUIRED'],
      [bearer(`${TOKEN}x`), 401, 'AUTH_REQUIRED'],
      [bearer(TOKEN.slice(0, -1)), 401, 'AUTH_REQUIRED'],
      [{ cookie: ada.cookie }, 403, 'FORBIDDEN'],
      [{ cookie: 'behalf_session=eve' }, 401, 'AUTH_REQUIRED'],
      // A token that is wrong is an attempt, whoever else is named beside it.
      [{ ...bearer('wrong'), cookie: admin }, 401, 'AUTH_REQUIRED'],
      [{ authorization: 'Bearer', cookie: admin }, 401, 'AUTH_REQUIRED'],
      [{ authorization: `Bearer wrong ${TOKEN}`, cookie: admin }, 401, 'AUTH_REQUIRED'],
      [{ authorization: `Basic ${TOKEN}` }, 401, 'AUTH_TOKEN_INVALID'],
    ];
    for (const [headers, status, code] of refused) {
      const response = await read(headers);
      expect([headers, response.status]).toEqual([headers, status]);
      const body = (await response.json()) as { code: string };
      expect(body.code).toBe(code);
    }
  });

  test('without a configured token no bearer opens them', async () => {
    const other = await startInProcess({}, renderYaml({}));
    try {
      const root = await administrator(other);
      expect((await read({ cookie: root }, other)).status).toBe(200);
      for (const token of ['', 'undefined', TOKEN]) {
        expect((await read({ ...bearer(token), cookie: root }, other)).status).toBe(401);
      }
    } finally {
      await other.close();
    }
  });

  test('labels name servers of the file, how it ended and the door, and nothing else', async () => {
    const secret = 'planted-argument';
    await ada.call('plain', 'echo', { secret });
    await ada.call('mine', 'echo', { secret });
    await ada.call('plain', 'fail', { secret });
    await ada.call('plain', 'planted-tool', { secret });
    for (const name of ['nowhere', 'planted-server', 'plain"} 1\nplanted 2'])
      await ada.call(name, 'echo', { secret });
    await ada.post('/api/mcp/servers/plain/prompts/planted-prompt/get', { arguments: { a: secret } });
    const text = await (await read(bearer(TOKEN))).text();
    const counted = text.split('\n').filter((line) => line.startsWith('behalf_upstream_requests_total{'));
    const labels = counted.map((line) => {
      const { version, ...rest } = Object.fromEntries(
        [...line.matchAll(/([a-z]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]),
      ) as Record<string, string>;
      expect(version).toBeDefined();
      return [rest, Number(line.split(' ').at(-1))];
    });
    const of = (server: string, outcome: string, count: number) => [{ server, door: 'rest', outcome }, count];
    expect(labels).toHaveLength(6);
    expect(labels).toEqual(
      expect.arrayContaining([
        of('plain', 'ok', 1),
        of('mine', 'ok', 1),
        of('plain', 'tool_error', 1),
        of('plain', 'MCP_TOOL_NOT_FOUND', 1),
        of('(unknown)', 'MCP_TOOL_NOT_FOUND', 3),
        of('plain', expect.stringMatching(/^MCP_/) as never, 1),
      ]),
    );
    expect(text).not.toContain('planted');
    expect(text).not.toContain('nowhere');
    expect(text).not.toContain(ada.id);
    expect(text).not.toContain('ada@example.com');
  });

  test('sign-ins at a server are counted by how they ended', async () => {
    const rig = await createOAuthRig({}, { METRICS_TOKEN: TOKEN });
    try {
      const browser = new GatewayBrowser(rig.gateway.url, rig.ada);
      const signIn = async () => {
        const startResponse = FlowView.parse(await (await browser.post('/api/mcp/files/oauth/start')).json());
        const left = await browser.open(startResponse.connectUrl);
        const back = await browser.open(readLocation(left));
        return browser.open(readLocation(back));
      };
      await signIn();
      rig.as.change({ consent: 'deny' });
      await signIn();
      await browser.open('/api/mcp/files/oauth/callback?state=planted-state&code=planted-code');
      const text = await (await read(bearer(TOKEN), rig.gateway)).text();
      for (const outcome of ['ok', 'access_denied', 'flow_unknown'])
        expect(text).toMatch(new RegExp(`^behalf_sign_ins_total\\{outcome="${outcome}",.*\\} 1$`, 'm'));
      expect(text).toMatch(/^behalf_token_pairs_not_stored_total\{.*\} 0$/m);
      expect(text).not.toContain('planted');
    } finally {
      await rig.close();
    }
  }, 60_000);
});

/** The cookie of the first account, made as its owner would make it. */
async function administrator({ url, setupLink }: InProcessGateway): Promise<string> {
  const token = new URL(setupLink).searchParams.get('token');
  const response = await fetch(new URL('/api/auth/setup', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-behalf-csrf': '1' },
    body: JSON.stringify({
      token,
      email: 'root@example.com',
      name: 'Root',
      password: 'a long enough secret',
    }),
  });
  expect(response.status).toBeLessThan(300);
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}
