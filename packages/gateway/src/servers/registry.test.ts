import { describe, expect, test } from '@jest/globals';
import {
  baseDefinition,
  createRegistryRig,
  createStoredDefinition,
  settingsFrom,
} from '../../test/registryRig.ts';
import { mergeDefinition } from './fields.ts';
import type { RegistryLayers } from './registry.ts';
import type { Restriction } from '../definitions/snapshot.ts';

describe('the registry', () => {
  test('servers of the file are there for every tenant, frozen', () => {
    const { registry } = createRegistryRig({
      one: baseDefinition,
      two: { ...baseDefinition, requiresOAuth: true },
    });
    expect(registry.list('default').map(({ name, scope }) => [name, scope])).toEqual([
      ['one', 'app'],
      ['two', 'user'],
    ]);
    const one = registry.find('other', 'one');
    expect(one).toMatchObject({ id: 'one', tenant: '*', source: 'yaml', scope: 'app' });
    expect(registry.get('default', 'one')).toBe(one);
    expect(registry.find('default', 'toString')).toBeUndefined();
    expect(Object.isFrozen(one)).toBe(true);
    expect(Object.isFrozen(one?.settings)).toBe(true);
  });

  test('an update replaces what it names, tells, and leaves old answers whole', () => {
    const { registry } = createRegistryRig({ one: baseDefinition }, { stored: [createStoredDefinition()] });
    const before = registry.find('default', 'one');
    let received = 0;
    const leave = registry.onChange(() => (received += 1));
    registry.update({ settings: settingsFrom({ three: baseDefinition }) });
    expect(registry.list('default').map(({ name }) => name)).toEqual(['three', 'mine']);
    expect(before?.name).toBe('one');
    leave();
    registry.update({ stored: [] });
    expect(received).toBe(1);
    expect(registry.list('default').map(({ name }) => name)).toEqual(['three']);
  });

  test('a stored server is its tenant’s alone, with its author and id', () => {
    const { registry } = createRegistryRig({ one: baseDefinition }, { stored: [createStoredDefinition()] });
    expect(registry.find('default', 'mine')).toMatchObject({
      id: 'id-1',
      tenant: 'default',
      source: 'user',
      scope: 'user',
      author: 'u1',
      securityDecision: { decidedBy: 'u2', isIntact: true },
    });
    expect(registry.get('default', 'id-1')?.name).toBe('mine');
    expect(registry.find('other', 'mine')).toBeUndefined();
    expect(registry.get('other', 'id-1')).toBeUndefined();
    expect(registry.list('other').map(({ name }) => name)).toEqual(['one']);
  });

  test('the file beats a stored server of the same name, and says so', () => {
    const { registry, logged, findUrl } = createRegistryRig(
      { 'my server': baseDefinition },
      {
        stored: [
          createStoredDefinition({ name: 'my server' }),
          createStoredDefinition({ id: 'id-2', name: 'my_server' }),
        ],
      },
    );
    expect(registry.list('default')).toHaveLength(1);
    expect(findUrl('default', 'my server')).toBe('https://base.example/mcp');
    expect(registry.get('default', 'id-2')).toBeUndefined();
    expect(logged).toEqual([
      'server_not_offered my server: the configuration has a server with this name',
      'server_not_offered my_server: the configuration has a server with this name',
    ]);
    // Said once, not with every change.
    registry.update({ isBuiltIn: false });
    expect(logged).toHaveLength(2);
  });

  test('a stored definition asks for nothing that is not a user’s', () => {
    const own = { type: 'streamable-http', url: 'https://user.example/mcp' };
    const bad: Record<string, unknown>[] = [
      { command: 'node', args: [] },
      { ...own, type: 'stdio' },
      { ...own, proxy: 'http://proxy.example:1' },
      { ...own, caFile: '/etc/passwd' },
      { ...own, timeout: 5 },
      { ...own, startup: true },
      { ...own, requiresOAuth: true },
      { ...own, customUserVars: {} },
      { ...own, oauth_headers: { A: 'b' } },
      { ...own, url: 'https://user.example/${TOKEN}' },
      { ...own, url: 'https://user.example/${TOKEN:-x}' },
      { ...own, headers: { A: '${TOKEN}' } },
      { ...own, headers: { A: '${TOKEN' } },
      { ...own, headers: { A: '{{LIBRECHAT_USER_ID}}' } },
      { ...own, headers: { A: '{{LIBRECHAT_OPENID_ACCESS_TOKEN}}' } },
      { ...own, headers: { A: '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}' } },
      { ...own, headers: { A: '{{LIBRECHAT_BODY_MESSAGEID}}' } },
      { ...own, headers: { A: '{{UNDECLARED}}' } },
      { ...own, apiKey: { source: 'admin', authorization_type: 'bearer', key: '${TOKEN}' } },
      { ...own, oauth: { client_id: '${TOKEN}' } },
      { ...own, oauth: { audience: 'x' } },
      { ...own, oauth: { token_url: 'https://as.example/token?resource=x' } },
      { ...own, oauth: { authorization_url: 'https://as.example/authorize?request_uri=x' } },
      { ...own, oauth: { revocation_endpoint: 'https://as.example/{{MCP_API_KEY}}?' } },
      { ...own, obo: { scopes: 'a', provider: 'p' } },
      { ...own, obo: { scopes: '${TOKEN}' } },
      { ...own, url: 'file:///etc/passwd' },
      { ...own, surprise: true },
    ];
    for (const definition of bad) {
      const { registry, logged } = createRegistryRig(
        {},
        { stored: [createStoredDefinition({ definition })] },
      );
      expect([definition, registry.list('default')]).toEqual([definition, []]);
      expect(logged).toHaveLength(1);
      expect(logged.join()).not.toContain('pl4nted');
    }
    const good = {
      ...own,
      title: 'Mine',
      description: 'costs ${5}',
      headers: { A: 'x{{MCP_API_KEY}}' },
      apiKey: { source: 'user', authorization_type: 'bearer' },
    };
    const { registry } = createRegistryRig({}, { stored: [createStoredDefinition({ definition: good })] });
    expect(registry.find('default', 'mine')).toMatchObject({ scope: 'user', auth: 'userVars' });
  });

  test('an override adds to its base, replaces in it and removes from it', () => {
    const base = { url: 'a', headers: { A: '1', B: '2' }, args: ['x', 'y'] };
    expect(mergeDefinition(base, { headers: { B: null, C: '3' }, args: ['z'] })).toEqual({
      url: 'a',
      headers: { A: '1', C: '3' },
      args: ['z'],
    });
    expect(base).toEqual({ url: 'a', headers: { A: '1', B: '2' }, args: ['x', 'y'] });
    const { registry } = createRegistryRig(
      { one: { ...baseDefinition, headers: { A: '${TOKEN}' } } },
      { overrides: [{ tenant: 'acme', name: 'one', definition: { headers: { B: '2' } } }] },
    );
    expect(registry.find('acme', 'one')).toMatchObject({
      id: 'one',
      source: 'config',
      tenant: 'acme',
      target: { url: 'https://base.example/mcp', headers: { a: 'pl4nted', b: '2' } },
    });
  });

  test('an override is its tenant’s alone and shares no revision with its base', () => {
    const { registry, findUrl } = createRegistryRig(
      { one: baseDefinition },
      {
        overrides: [
          { tenant: 'acme', name: 'one', definition: { url: 'https://acme.example/mcp' } },
          { tenant: 'same', name: 'one', definition: {} },
          { tenant: 'acme', name: 'extra', definition: baseDefinition },
        ],
      },
    );
    expect(findUrl('acme', 'one')).toBe('https://acme.example/mcp');
    expect(findUrl('default', 'one')).toBe('https://base.example/mcp');
    expect(registry.list('acme').map(({ name }) => name)).toEqual(['one', 'extra']);
    expect(registry.find('default', 'extra')).toBeUndefined();
    const revisions = ['default', 'acme', 'same'].map((tenant) => registry.find(tenant, 'one')?.revision);
    expect(new Set(revisions).size).toBe(3);
    expect(registry.listAll()).toHaveLength(4);
  });

  test('an override replaces no process, and starts none', () => {
    const { findUrl, registry, logged } = createRegistryRig(
      { process: { command: 'node' }, one: baseDefinition },
      {
        overrides: [
          { tenant: 'acme', name: 'process', definition: { command: null, ...baseDefinition } },
          { tenant: 'kind', name: 'process', definition: { title: 'Ours' } },
          { tenant: 'acme', name: 'new', definition: { command: 'sh' } },
          { tenant: 'acme', name: 'one', definition: { url: null, type: null, command: 'sh' } },
        ],
      },
    );
    expect(registry.list('acme')).toEqual([]);
    expect(registry.find('kind', 'process')).toBe(registry.find('default', 'process'));
    expect(findUrl('kind', 'one')).toBe('https://base.example/mcp');
    expect(logged).toHaveLength(4);
  });

  test('a stored server takes the name of no override, whatever becomes of that', () => {
    for (const definition of [baseDefinition, { surprise: true }]) {
      const { registry, logged } = createRegistryRig(
        {},
        {
          stored: [
            createStoredDefinition({ tenant: 'acme', name: 'the tool' }),
            createStoredDefinition({ tenant: 'acme', id: 'id-2', name: 'the_tool' }),
            createStoredDefinition({ tenant: 'other', id: 'id-3', name: 'the tool' }),
          ],
          overrides: [{ tenant: 'acme', name: 'the tool', definition }],
        },
      );
      expect(registry.list('acme').filter(({ source }) => source === 'user')).toEqual([]);
      expect(registry.get('acme', 'id-1')).toBeUndefined();
      expect(registry.find('other', 'the tool')?.source).toBe('user');
      expect(registry.find('acme', 'the tool')?.source).toBe(
        definition === baseDefinition ? 'config' : undefined,
      );
      expect(logged).toContain(
        'server_not_offered the_tool: an administrator has defined a server with this name',
      );
    }
  });

  test('one that may have been meant to narrow its base never gives way to it', () => {
    const narrowing: Record<string, unknown>[] = [
      { tools: { include: ['a'] } },
      { access: { roles: ['ADMIN'] } },
      { url: 'https://acme.example/mcp' },
      { headers: { Authorization: 'Bearer less' } },
      { apiKey: { source: 'user', authorization_type: 'bearer' } },
      { proxy: 'http://proxy.example:1' },
      { requiresOauth: true },
      { timeout: 5, tools: { exclude: ['a'] } },
    ];
    for (const definition of narrowing) {
      const overrides = [{ tenant: 'acme', name: 'one', definition }];
      const { registry, failedServers } = createRegistryRig(
        { one: baseDefinition },
        { overrides },
        { enforcedRestrictions: ['tools'] },
      );
      const override = registry.find('acme', 'one');
      expect(override?.source).not.toBe('yaml');
      if (override) failedServers.add(override);
      // One that fails stays what it is: an error that can be seen, and tried again.
      expect([definition, registry.find('acme', 'one')]).toEqual([definition, override]);
      expect(registry.get('acme', 'one')).toBe(override);
      expect(registry.list('acme')).toEqual(override ? [override] : []);
      expect(registry.listAll()).toHaveLength(override ? 2 : 1);
      expect(registry.list('default')).toHaveLength(1);
    }
  });

  test('one that is harmless never hides a healthy base', () => {
    const { registry, failedServers, findUrl, logged } = createRegistryRig(
      { one: baseDefinition },
      {
        overrides: [
          { tenant: 'wrong', name: 'one', definition: { initTimeout: 'soon' } },
          { tenant: 'acme', name: 'one', definition: { initTimeout: 5, era: 'modern', title: 'Ours' } },
        ],
      },
    );
    expect(findUrl('wrong', 'one')).toBe('https://base.example/mcp');
    expect(logged.join()).toContain('initTimeout');
    const override = registry.find('acme', 'one')!;
    failedServers.add(override);
    expect(findUrl('acme', 'one')).toBe('https://base.example/mcp');
    expect(registry.list('acme').map(({ source }) => source)).toEqual(['yaml']);
    expect(registry.listAll()).toContain(override);
    failedServers.delete(override);
    expect(registry.find('acme', 'one')).toBe(override);
  });

  test('it changes with what a connection depends on, and with nothing else', () => {
    const revision = (more: object, layers: Partial<RegistryLayers> = {}) =>
      createRegistryRig({ one: { ...baseDefinition, ...more } }, layers).registry.find('default', 'one')
        ?.revision;
    const first = revision({});
    expect(revision({})).toBe(first);
    expect(revision({ title: 'One', description: 'x', chatMenu: false })).toBe(first);
    const others = [
      { url: 'https://other.example/mcp' },
      { headers: { A: '${TOKEN}' } },
      { headers: { A: 'b' } },
      { timeout: 5 },
      { initTimeout: 5 },
      { era: 'legacy' },
      { type: 'sse' },
      { proxy: 'http://proxy.example:1' },
      { startup: false },
      { requiresOAuth: true },
      { url: 'https://base.example/{{LIBRECHAT_USER_ID}}' },
      { url: 'https://base.example/{{LIBRECHAT_USER_EMAIL}}' },
    ].map((more) => revision(more));
    expect(new Set([first, ...others]).size).toBe(others.length + 1);
  });

  test('other rules about addresses end what was opened under the old ones and stays open', () => {
    const rules = [
      {},
      { allowedDomains: ['base.example'] },
      { allowedAddresses: ['10.0.0.1:80'] },
      { operatorAddresses: ['10.0.0.1:80'] },
    ];
    const revisions = (definition: object) =>
      new Set(
        rules.map((mcpSettings) => {
          const { registry } = createRegistryRig({ one: definition }, {}, { extraSettings: { mcpSettings } });
          return registry.find('default', 'one')?.revision;
        }),
      );
    const socket = { type: 'websocket', url: 'wss://base.example/mcp' };
    const events = { ...baseDefinition, type: 'sse' };
    for (const definition of [socket, events, { ...socket, startup: false }, { ...events, startup: false }])
      expect([definition, revisions(definition).size]).toEqual([definition, rules.length]);
    // Asked anew with each request.
    expect(revisions(baseDefinition).size).toBe(1);
    expect(revisions({ command: 'node' }).size).toBe(1);
  });

  test('what asks for something not enforced is not offered, and says why', () => {
    for (const [more, reason] of [
      [{ access: { roles: ['ADMIN'] } }, 'access is not enforced yet'],
      [{ tools: { include: ['a'] } }, 'tools is not enforced yet'],
      [{ auth: 'required' }, 'auth is not supported yet'],
    ] as const) {
      const { registry, logged } = createRegistryRig({
        one: { ...baseDefinition, ...more },
        two: baseDefinition,
      });
      expect(registry.list('default').map(({ name }) => name)).toEqual(['two']);
      expect(logged).toEqual([`server_not_offered one: ${reason}`]);
      const enforcedRestrictions: Restriction[] = ['access', 'tools', 'auth'];
      expect(
        createRegistryRig(
          { one: { ...baseDefinition, ...more } },
          {},
          { enforcedRestrictions },
        ).registry.list('default'),
      ).toHaveLength(1);
    }
    const approval = { endpoints: { agents: { toolApproval: { ask: ['mcp:one:*'] } } } };
    expect(
      createRegistryRig({ one: baseDefinition }, {}, { extraSettings: approval }).registry.list('default'),
    ).toEqual([]);
    expect(
      createRegistryRig(
        {},
        { stored: [createStoredDefinition()] },
        { enforcedRestrictions: [] },
      ).registry.list('default'),
    ).toEqual([]);
    expect(
      createRegistryRig({ one: { ...baseDefinition, auth: 'none' } }).registry.list('default'),
    ).toHaveLength(1);
  });

  test('nothing of our environment reaches the built-in sample', () => {
    const sample = { everything: { command: 'node' } };
    const targetOf = (isBuiltIn: boolean) => {
      const server = createRegistryRig(sample, { isBuiltIn }).registry.find('default', 'everything');
      return server?.scope === 'app' ? server.target : undefined;
    };
    expect(targetOf(true)).toMatchObject({ env: {} });
    expect(targetOf(true)).not.toMatchObject({ env: { PATH: '/bin' } });
    expect(targetOf(false)).toMatchObject({ env: { PATH: '/bin' } });
  });
});
