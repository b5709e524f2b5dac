import { NamedServerView, secretMask } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { createConfigureRig, remoteDefinition } from '../../test/configureRig.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { createServer } from './create.ts';
import { removeServer } from './remove.ts';

const own = { ...remoteDefinition, url: 'https://user.example/mcp', title: 'My Server' };

describe('creating a server', () => {
  test('it is stored, its owner has every bit, and it is told of', async () => {
    const { parts, createPrincipal, store, events, requests } = await createConfigureRig();
    const ada = createPrincipal('ada', 'MAKER');
    const view = await createServer(parts, ada, { config: { ...own, headers: { 'X-Key': 'pl4nted' } } });
    expect(NamedServerView.parse(view)).toMatchObject({
      serverName: 'my-server',
      title: 'My Server',
      url: 'https://user.example/mcp',
      source: 'user',
      author: 'ada',
      version: 1,
      permissions: 15,
    });
    expect(JSON.stringify(view)).not.toContain('pl4nted');
    const server = parts.registry.find('default', 'my-server')!;
    expect(view.dbId).toBe(server.id);
    expect(server.securityDecision).toEqual({ decidedBy: 'ada', isIntact: true });
    expect(parts.acl.getUseBits(ada, server)).toBe(15);
    expect(requests).toHaveLength(2);
    expect(requests[0]).toBe('check https://user.example/mcp');
    expect(events).toEqual([
      expect.objectContaining({
        kind: 'config',
        action: 'server.create',
        outcome: 'ok',
        server: 'my-server',
        serverId: server.id,
        changed: ['headers', 'title', 'type', 'url'],
      }),
    ]);
    const everything = JSON.stringify([await store.raw.page('servers', null, 10), events]);
    expect(everything).not.toContain('pl4nted');
    expect(everything).not.toContain('user.example');
  });

  test('without USE or CREATE nothing is looked at', async () => {
    const { parts, createPrincipal, store, requests, events } = await createConfigureRig();
    for (const role of ['USER', 'NO_USE', 'UNKNOWN']) {
      const creating = createServer(parts, createPrincipal('ada', role), { config: { surprise: true } });
      await expect(creating).rejects.toMatchObject({ code: 'MCP_FORBIDDEN' });
    }
    expect([requests, await store.raw.count('servers'), await store.raw.count('acl')]).toEqual([[], 0, 0]);
    expect(events.map(({ outcome, code }) => [outcome, code])).toEqual(
      Array.from({ length: 3 }, () => ['refused', 'MCP_FORBIDDEN']),
    );
  });

  test('a permission that goes during the inspection is gone when it ends', async () => {
    const { parts, createPrincipal, store } = await createConfigureRig();
    const inspect = async () => {
      const role = (await store.roles.find('default', 'MAKER'))!;
      await store.roles.replace({ ...role, permissions: { USE: true }, version: 2 }, 1);
      return { tools: 1 };
    };
    const creating = createServer({ ...parts, inspect }, createPrincipal('ada', 'MAKER'), { config: own });
    await expect(creating).rejects.toMatchObject({ code: 'MCP_FORBIDDEN' });
    expect([await store.raw.count('servers'), await store.raw.count('acl')]).toEqual([0, 0]);
  });

  test('who is disabled, moved or downgraded during the inspection creates nothing', async () => {
    for (const [change, code] of [
      [{ role: 'USER' }, 'MCP_FORBIDDEN'],
      [{ disabledAt: 1 }, 'AUTH_REQUIRED'],
      [{ tenant: 'acme' }, 'AUTH_REQUIRED'],
    ] as const) {
      const { parts, createPrincipal, store, updateUserRecord } = await createConfigureRig();
      const ada = createPrincipal('ada', 'MAKER');
      const inspect = async () => {
        updateUserRecord('ada', change);
        return { tools: 1 };
      };
      const creating = createServer({ ...parts, inspect }, ada, { config: own });
      await expect(creating).rejects.toMatchObject({ code });
      expect([await store.raw.count('servers'), await store.raw.count('acl')]).toEqual([0, 0]);
    }
  });

  test('a role that lost CONFIGURE_OBO on the way makes no obo', async () => {
    const { parts, createPrincipal, store, updateUserRecord } = await createConfigureRig();
    const ada = createPrincipal('ada', 'TRUSTED');
    // The address is looked up even of what is never opened.
    const checkAddress = async () => updateUserRecord('ada', { role: 'MAKER' });
    const config = { ...own, obo: { scopes: 's' } };
    const creating = createServer({ ...parts, checkAddress }, ada, { config });
    await expect(creating).rejects.toMatchObject({ code: 'MCP_OBO_FORBIDDEN' });
    expect(await store.raw.count('servers')).toBe(0);
  });

  test('without the store nothing is created', async () => {
    const { parts, createPrincipal, requests } = await createConfigureRig();
    const acl = { ...parts.acl, refresh: () => Promise.reject(new GatewayError('STORE_UNAVAILABLE')) };
    const creating = createServer({ ...parts, acl }, createPrincipal('ada', 'ADMIN'), { config: own });
    await expect(creating).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(requests).toEqual([]);
  });

  test('obo asks for CONFIGURE_OBO, and nothing is opened for it', async () => {
    const { parts, createPrincipal, requests, store } = await createConfigureRig();
    const config = { ...own, obo: { scopes: 'api://x/.default' } };
    const creating = createServer(parts, createPrincipal('ada', 'MAKER'), { config });
    await expect(creating).rejects.toMatchObject({ code: 'MCP_OBO_FORBIDDEN' });
    expect([requests, await store.raw.count('servers')]).toEqual([[], 0]);
    const view = await createServer(parts, createPrincipal('bea', 'TRUSTED'), { config });
    expect(view.obo).toEqual({ scopes: 'api://x/.default' });
    expect(requests).toEqual(['check https://user.example/mcp']);
  });

  test('what waits for a sign-in or a value is not opened', async () => {
    const { parts, createPrincipal, requests } = await createConfigureRig();
    const ada = createPrincipal('ada', 'MAKER');
    for (const more of [
      { oauth: { client_id: 'c' } },
      { apiKey: { source: 'user', authorization_type: 'bearer' } },
    ])
      await createServer(parts, ada, { config: { ...own, ...more } });
    expect(requests.filter((line) => line.startsWith('inspect'))).toEqual([]);
  });

  test('one that fails its inspection is not stored', async () => {
    const fails = async () => {
      throw new GatewayError('MCP_INSPECTION_FAILED');
    };
    const { parts, createPrincipal, store } = await createConfigureRig({}, { inspect: fails });
    const creating = createServer(parts, createPrincipal('ada', 'MAKER'), { config: own });
    await expect(creating).rejects.toMatchObject({ code: 'MCP_INSPECTION_FAILED' });
    expect([await store.raw.count('servers'), await store.raw.count('acl')]).toEqual([0, 0]);
  });

  test('an address that is not allowed is neither opened nor stored', async () => {
    const requests: string[] = [];
    const { parts, createPrincipal, store } = await createConfigureRig(
      {},
      {
        async checkAddress() {
          throw new GatewayError('MCP_DOMAIN_NOT_ALLOWED');
        },
        async inspect() {
          requests.push('inspect');
          return { tools: 0 };
        },
      },
    );
    const creating = createServer(parts, createPrincipal('ada', 'MAKER'), { config: own });
    await expect(creating).rejects.toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
    expect([requests, await store.raw.count('servers')]).toEqual([[], 0]);
  });

  test('what is not a user’s to say is refused by name', async () => {
    const { parts, createPrincipal, store, requests } = await createConfigureRig();
    const ada = createPrincipal('ada', 'TRUSTED');
    const deep = JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`) as unknown;
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`X-${index}`, 'v']));
    const bad: [object, string][] = [
      [{ ...own, startup: false }, 'config.startup'],
      [{ ...own, timeout: 5 }, 'config.timeout'],
      [{ ...own, customUserVars: { A: { title: 'A', description: '' } } }, 'config.customUserVars'],
      [{ ...own, proxy: 'http://p.example' }, 'config.proxy'],
      [{ ...own, oauth_headers: { A: 'b' } }, 'config.oauth_headers'],
      [{ ...own, requiresOAuth: true }, 'config.requiresOAuth'],
      [{ ...own, serverInstructions: true }, 'config.serverInstructions'],
      [{ command: 'sh', args: [] }, 'config.command'],
      [{ ...own, type: 'stdio' }, 'config.type'],
      [{ ...own, url: 'https://user.example/${SECRET_OF_ENV}' }, 'config.url'],
      [{ ...own, headers: { A: '{{LIBRECHAT_USER_ID}}' } }, 'config.headers.A'],
      [{ ...own, headers: { A: secretMask } }, 'config.headers.A'],
      [{ ...own, obo: { scopes: 's', provider: 'p' } }, 'config.obo.provider'],
      [{ ...own, surprise: 1 }, 'config.surprise'],
      [{ title: 'None' }, 'config'],
      [{ ...own, url: `https://user.example/${'x'.repeat(2_048)}` }, 'config.url'],
      [{ ...own, title: 'x'.repeat(101) }, 'config.title'],
      [{ ...own, description: 'x'.repeat(4_097) }, 'config.description'],
      [{ ...own, headers: { A: 'x'.repeat(8_193) } }, 'config.headers.A'],
      [{ ...own, headers: many }, 'config.headers'],
      [{ ...own, iconPath: `data:image/png;base64,${'x'.repeat(65_536)}` }, 'config'],
      [{ ...own, headers: { A: deep } }, 'config'],
    ];
    for (const [config, path] of bad) {
      const creating = createServer(parts, ada, { config: config as Record<string, unknown> });
      const error = await creating.then(
        () => null,
        (thrown: unknown) => thrown as GatewayError,
      );
      expect([path, error?.code, error?.errors?.[0]?.path]).toEqual([path, 'MCP_CONFIG_INVALID', path]);
      expect(JSON.stringify(error?.errors)).not.toContain('pl4nted');
    }
    expect([requests, await store.raw.count('servers')]).toEqual([[], 0]);
  });

  test('the title becomes a name that nobody has and that may be one', async () => {
    const { parts, createPrincipal } = await createConfigureRig({
      'from file': remoteDefinition,
      'my-server-2': remoteDefinition,
    });
    const ada = createPrincipal('ada', 'MAKER');
    await parts.overrides.put(
      {
        tenant: 'default',
        name: 'given',
        definition: remoteDefinition,
        changedBy: 'root',
        isSecurityChange: true,
      },
      null,
    );
    await parts.refreshRegistry();
    const nameFor = async (title?: string, who = ada) => {
      const { title: _none, ...rest } = own;
      const view = await createServer(parts, who, {
        config: title === undefined ? rest : { ...rest, title },
      });
      return view.serverName;
    };
    expect(await nameFor('My Server')).toBe('my-server');
    expect(await nameFor('My  SERVER')).toBe('my-server-3');
    expect(await nameFor('Given')).toBe('given-2');
    expect(await nameFor('from file')).toBe('from-file');
    expect(await nameFor('Tools')).toBe('tools-2');
    expect(await nameFor('日本語')).toBe('mcp-server');
    expect(await nameFor()).toBe('mcp-server-2');
    expect(await nameFor('Ada’s café - new')).toBe('adas-caf-new');
    expect(await nameFor('My Server', createPrincipal('bea', 'MAKER', { tenant: 'acme' }))).toBe('my-server');
  });

  test('while reserved names are not known no server is made', async () => {
    const { parts, createPrincipal, store } = await createConfigureRig();
    parts.registry.update({ overrides: 'unknown' });
    const creating = createServer(parts, createPrincipal('ada', 'MAKER'), { config: own });
    await expect(creating).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect([await store.raw.count('servers'), await store.raw.count('acl')]).toEqual([0, 0]);
  });

  test('nobody has more than the limit, however many are made at once', async () => {
    const { clock, parts, createPrincipal, store } = await createConfigureRig({}, { maxPerUser: 3 });
    const ada = createPrincipal('ada', 'MAKER');
    // Who finds another at it waits for the clock.
    const settled = async <T>(work: Promise<T>): Promise<T> => {
      let isDone = false;
      const ended = work.finally(() => (isDone = true));
      while (!isDone) await clock.advance(50);
      return ended;
    };
    const made = await settled(
      Promise.allSettled(Array.from({ length: 8 }, () => createServer(parts, ada, { config: own }))),
    );
    const refusals = made.flatMap((one) => (one.status === 'rejected' ? [one.reason as GatewayError] : []));
    expect(refusals.map(({ code }) => code)).toEqual(Array.from({ length: 5 }, () => 'MCP_SERVER_LIMIT'));
    expect([await store.raw.count('servers'), await store.raw.count('acl')]).toEqual([3, 3]);
    // Another person has room of their own, and a removed one makes room.
    await createServer(parts, createPrincipal('bea', 'MAKER'), { config: own });
    await removeServer(parts, ada, 'my-server');
    await createServer(parts, ada, { config: own });
  });
});
