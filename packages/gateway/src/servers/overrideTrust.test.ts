import { apiKeyVariable } from '@behalf/contracts';
import { aCredential } from '@behalf/testkit/suites';
import { describe, expect, test } from '@jest/globals';
import { type ConfigureRig, createConfigureRig, remoteDefinition } from '../../test/configureRig.ts';
import type { GatewayError } from '../errors/gatewayError.ts';
import { aclId, roleId, toVariableSealContext, variableId } from '../ports/index.ts';
import { deleteOverride, getOverride, putOverride } from './overrideServer.ts';
import { viewServer } from './view.ts';

const evil = 'https://evil.example/mcp';
const env = '${SECRET_OF_ENV}';
const bearer = { source: 'user', authorization_type: 'bearer' };

async function createRig(file: Record<string, unknown>) {
  const rig = await createConfigureRig(file);
  const root = rig.createPrincipal('root', 'ADMIN', { tenant: 'acme' });
  const put = (name: string, config: Record<string, unknown>, by = root) =>
    putOverride(rig.parts, by, name, { config });
  const found = (name: string) => rig.parts.registry.find('acme', name);
  /** Administrators lose CONFIGURE_OBO, and stay administrators. */
  const withoutObo = async () => {
    const texts = { description: '', updatedBy: 'test', createdAt: 0, updatedAt: 0 };
    const role = { id: roleId('acme', 'ADMIN'), tenant: 'acme', name: 'ADMIN', version: 1, ...texts };
    await rig.store.roles.insert({ ...role, permissions: { CONFIGURE_OBO: false } });
  };
  return { ...rig, root, put, found, withoutObo };
}

/** What a user of the tenant has entered, signed in with and been given. */
async function enterAll({ store, keyring, parts }: ConfigureRig, serverId: string) {
  const variable = { tenant: 'acme', userId: 'u7', serverId, name: apiKeyVariable };
  const valueSealed = keyring.seal('v', toVariableSealContext(variable));
  await store.variables.put([{ id: variableId(variable), ...variable, valueSealed, updatedAt: 1 }]);
  await store.credentials.insert(aCredential({ tenant: 'acme', principal: 'user:u7', serverId }));
  const right = { tenant: 'acme', serverId, principalType: 'user' as const, principalId: 'u7' };
  const row = { ...right, id: aclId(right), bits: 1, grantedBy: 'test', grantedAt: 0 };
  await parts.acl.write({ put: [row], remove: [] });
}

const left = async ({ store }: ConfigureRig) => [
  await store.raw.count('variables'),
  await store.raw.count('credentials'),
  await store.raw.count('acl'),
];

describe('what an administrator of a tenant may not do to the operator', () => {
  test('no secret of the file goes where the file does not send it, from the first override on', async () => {
    const oauth = {
      client_id: 'c',
      client_secret: env,
      authorization_url: 'https://as.example/authorize',
      token_url: 'https://as.example/token',
    };
    const apiKey = { source: 'admin', authorization_type: 'bearer', key: env };
    const file = {
      headers: { ...remoteDefinition, headers: { 'X-Key': env, toString: 'literal' } },
      literal: { ...remoteDefinition, headers: { 'X-Key': 'pl4nted' } },
      key: { ...remoteDefinition, apiKey },
      'client-secret': { ...remoteDefinition, oauth },
      discovery: { ...remoteDefinition, requiresOAuth: true, oauth_headers: { 'X-Key': env } },
      client: { ...remoteDefinition, oauth: { client_id: env, authorization_url: 'https://as.example/a' } },
      proxied: { ...remoteDefinition, headers: { A: env }, proxy: 'http://u:p@proxy.example:1' },
      address: {
        ...remoteDefinition,
        url: `https://base.example/mcp?key=${env}`,
        proxy: 'http://proxy.example:1',
      },
    };
    const { put, store, events } = await createRig(file);
    const headers = 'MCP_SECRET_REENTRY_REQUIRED';
    const client = 'MCP_OAUTH_SECRET_REENTRY_REQUIRED';
    const attacks: [string, Record<string, unknown>, string][] = [
      ['headers', { url: evil }, headers],
      ['headers', { url: 'https://base.example/other' }, headers],
      ['headers', { url: evil, headers: { 'X-Key': 'mine' } }, headers],
      ['headers', { url: evil, headers: { 'x-key': 'mine', toString: null } }, headers],
      ['headers', { type: 'sse' }, headers],
      ['literal', { url: evil, headers: { Other: 'mine' } }, headers],
      ['key', { url: evil }, headers],
      ['key', { url: evil, apiKey: { source: 'admin', authorization_type: 'bearer' } }, headers],
      ['key', { apiKey: { authorization_type: 'custom', custom_header: 'X-Log' } }, headers],
      ['client-secret', { url: evil }, client],
      ['client-secret', { oauth: { token_url: 'https://evil.example/token' } }, client],
      ['client-secret', { oauth: { revocation_endpoint: 'https://evil.example/revoke' } }, client],
      ['discovery', { url: evil }, client],
      ['client', { oauth: { authorization_url: 'https://evil.example/a' } }, client],
      ['proxied', { proxy: null }, headers],
      ['proxied', { url: evil, headers: { A: 'mine' } }, headers],
      ['address', { proxy: null }, headers],
    ];
    for (const [name, config, code] of attacks) {
      const putting = put(name, config).then(
        () => 'stored',
        (error: unknown) => (error as GatewayError).code,
      );
      expect([name, config, await putting]).toEqual([name, config, code]);
    }
    expect(await store.raw.count('overrides')).toBe(0);
    expect(events.every(({ outcome }) => outcome === 'refused')).toBe(true);
    // What stays where it is stays, and who enters all of it anew, or takes it away, may lead it elsewhere.
    for (const name of Object.keys(file)) await put(name, { timeout: 5 });
    await put('headers', { url: evil, headers: { 'X-Key': 'mine', toString: null } });
    await put('key', { url: evil, apiKey: { key: 'mine' } });
    await put('client-secret', { url: evil, oauth: { client_secret: 'mine' } });
    // Not in a second step either.
    await expect(put('headers', { url: evil })).rejects.toMatchObject({ code: headers });
  });

  test('an override reads nothing of the environment, and leaves what the file reads', async () => {
    const { put, found, store, parts, root, createPrincipal } = await createRig({
      one: { ...remoteDefinition, headers: { A: env }, description: env },
      secret: { ...remoteDefinition, obo: { scopes: env, audience: `api://${env}` } },
    });
    const attacks: [string, Record<string, unknown>, string][] = [
      ['one', { headers: { B: env } }, 'config.headers.B'],
      ['one', { headers: { B: 'x${SECRET_OF_ENV:-y}' } }, 'config.headers.B'],
      ['one', { headers: { B: 'x${SECRET_OF_ENV' } }, 'config.headers.B'],
      ['one', { headers: { A: null }, url: `https://evil.example/${env}` }, 'config.url'],
      ['one', { obo: { scopes: env } }, 'config.obo.scopes'],
      ['one', { oauth_headers: { A: env } }, 'config.oauth_headers.A'],
      ['one', { oauth: { client_id: env } }, 'config.oauth.client_id'],
      ['one', { tools: { include: [env] } }, 'config.tools.include[0]'],
      ['new', { ...remoteDefinition, headers: { A: env } }, 'config.headers.A'],
    ];
    for (const [name, config, path] of attacks) {
      await expect(put(name, config)).rejects.toMatchObject({
        code: 'MCP_CONFIG_INVALID',
        errors: [{ path, code: 'placeholder_forbidden' }],
      });
    }
    expect(await store.raw.count('overrides')).toBe(0);
    await put('one', { headers: { B: 'mine' }, title: 'Ours', description: 'costs ${5}' });
    expect(found('one')).toMatchObject({
      target: { headers: { a: 'pl4nted-env', b: 'mine' } },
      settings: { description: 'costs ${5}' },
    });
    // Nor is it shown what the file's own scopes are filled in with.
    await put('secret', { title: 'Shown' });
    const shown = [
      await getOverride(parts, root, 'secret'),
      viewServer(parts, createPrincipal('vic', 'USER', { tenant: 'acme' }), 'secret'),
    ];
    expect(shown[1]).toMatchObject({ obo: { scopes: env, audience: `api://${env}` } });
    expect(JSON.stringify(shown)).not.toContain('pl4nted');
  });

  test('only an address of the file has the operator’s privileges, and only the operator names a proxy', async () => {
    const { put, found } = await createRig({
      one: remoteDefinition,
      own: { ...remoteDefinition, startup: false },
    });
    for (const [name, config] of [
      ['new', { ...remoteDefinition, proxy: 'http://10.0.0.1:80' }],
      ['new', { ...remoteDefinition, caFile: '/etc/passwd' }],
      ['one', { proxy: 'http://10.0.0.1:80' }],
      ['one', { caFile: '/etc/passwd' }],
    ] as const) {
      await expect(put(name, config)).rejects.toMatchObject({
        code: 'MCP_CONFIG_INVALID',
        errors: [{ code: 'operator_only' }],
      });
    }
    await put('one', { timeout: 5, url: 'https://BASE.example:443/mcp' });
    expect(found('one')).toMatchObject({
      audience: 'yaml-server',
      target: { audience: 'yaml-server' },
    });
    for (const name of ['one', 'new', 'own']) {
      await put(name, { ...remoteDefinition, url: 'https://internal.example/mcp' });
      expect(found(name)).toMatchObject({ source: 'config', audience: 'user-server' });
    }
    expect(found('new')).toMatchObject({ scope: 'app', target: { audience: 'user-server' } });
  });
});

describe('what an administrator of a tenant may not do to its users', () => {
  test('what users entered follows no override, neither there nor back', async () => {
    const file = { one: { ...remoteDefinition, apiKey: bearer } };
    for (const [config, stays] of [
      [{ title: 'Ours', timeout: 5 }, true],
      [{ url: evil }, false],
      [{ url: 'https://base.example/other' }, false],
      [{ apiKey: { authorization_type: 'custom', custom_header: 'X-Log' } }, false],
      [{ headers: { 'X-Copy': `{{${apiKeyVariable}}}` } }, false],
      [{ oauth_headers: { 'X-Copy': `{{${apiKeyVariable}}}` } }, false],
    ] as const) {
      const made = await createRig(file);
      const { put, parts, root } = made;
      // What was given is bound to its address: it stays, of no use elsewhere.
      const remaining = stays ? [1, 1, 1] : [0, 1, 1];
      await enterAll(made, 'one');
      await put('one', config);
      expect([config, await left(made)]).toEqual([config, remaining]);
      await enterAll(made, 'one');
      await deleteOverride(parts, root, 'one');
      expect([config, await left(made)]).toEqual([config, remaining]);
    }
  });

  test('none is left when the override is there, nor one that was entered meanwhile', async () => {
    const made = await createRig({ one: { ...remoteDefinition, apiKey: bearer } });
    const { parts, root, store } = made;
    await enterAll(made, 'one');
    const received: string[] = [];
    store.changes.subscribe(({ topic, id }) => received.push(`${topic} ${id}`));
    const overrides = {
      ...parts.overrides,
      async put(...args: Parameters<typeof parts.overrides.put>) {
        received.push(`left ${String(await left(made))}`);
        await enterAll(made, 'one');
        received.length = 2;
        return parts.overrides.put(...args);
      },
    };
    await putOverride({ ...parts, overrides }, root, 'one', { config: { url: evil } });
    // Whoever remembers values hears of it before anybody hears of the override.
    expect(received).toEqual(['variables *', 'left 0,1,1', 'overrides ["acme","one"]', 'variables *']);
    expect(await left(made)).toEqual([0, 1, 1]);
  });

  test('a server that only an override made takes the rights along, and finds none when it comes', async () => {
    const made = await createRig({ one: remoteDefinition });
    const { parts, put, root } = made;
    await put('new', { ...remoteDefinition, apiKey: bearer });
    await enterAll(made, 'new');
    await deleteOverride(parts, root, 'new');
    expect(await left(made)).toEqual([0, 0, 0]);
    // What an interrupted deletion left, or a server of the file that is no more.
    await enterAll(made, 'new');
    await put('new', { ...remoteDefinition, apiKey: bearer });
    expect(await left(made)).toEqual([0, 1, 0]);
    await enterAll(made, 'one');
    await put('one', { timeout: 5 });
    await deleteOverride(parts, root, 'one');
    expect(await left(made)).toEqual([1, 2, 1]);
  });

  test('what users were given is ended with the server alone, and never by a change that came to nothing', async () => {
    const made = await createRig({ one: remoteDefinition });
    const { parts, put, root, store } = made;
    const readStored = () => store.raw.count('credentials');
    await enterAll(made, 'one');
    const overrides = { ...parts.overrides, put: async () => 'version_conflict' as const };
    const late = putOverride({ ...parts, overrides }, root, 'one', { config: { url: evil } });
    await expect(late).rejects.toMatchObject({ code: 'MCP_VERSION_CONFLICT' });
    expect(await readStored()).toBe(1);
    await put('one', { url: evil });
    await deleteOverride(parts, root, 'one');
    expect(await readStored()).toBe(1);
    await put('own', remoteDefinition);
    await enterAll(made, 'own');
    await deleteOverride(parts, root, 'own');
    expect(await readStored()).toBe(1);
  });

  test('without CONFIGURE_OBO nobody moves, makes or unmakes an OBO server by an override', async () => {
    const obo = { scopes: 'a' };
    const { put, parts, root, store, withoutObo } = await createRig({
      one: { ...remoteDefinition, obo },
      plain: remoteDefinition,
    });
    await put('one', { timeout: 5 });
    await put('new', { ...remoteDefinition, obo });
    await withoutObo();
    for (const [name, config] of [
      ['one', { timeout: 5, url: evil }],
      ['one', { timeout: 5, obo: { scopes: 'a b' } }],
      ['one', { timeout: 5, obo: null }],
      ['one', {}],
      ['plain', { obo }],
      ['fresh', { ...remoteDefinition, obo }],
      ['new', { ...remoteDefinition, url: evil, obo }],
    ] as const) {
      await expect(put(name, config)).rejects.toMatchObject({ code: 'MCP_OBO_FORBIDDEN' });
    }
    await expect(deleteOverride(parts, root, 'one')).rejects.toMatchObject({ code: 'MCP_OBO_FORBIDDEN' });
    expect((await store.overrides.list()).map(({ version }) => version)).toEqual([1, 1]);
    // Texts are free, and what is gone gets no token.
    await put('one', { timeout: 5, title: 'Ours' });
    await put('plain', { url: evil });
    await deleteOverride(parts, root, 'new');
  });

  test('who changes a locked field is the one whose word it rests on, sealed to it', async () => {
    const { put, found, createPrincipal, store, parts, clock } = await createRig({
      one: { ...remoteDefinition, obo: { scopes: 'a' } },
    });
    const second = createPrincipal('second', 'ADMIN', { tenant: 'acme' });
    await put('one', { title: 'Ours' });
    // Nothing of it is anybody's decision but the operator's.
    expect(found('one')?.securityDecision).toEqual({ decidedBy: null, isIntact: true });
    await put('one', { url: evil });
    expect(found('one')?.securityDecision).toEqual({ decidedBy: 'root', isIntact: true });
    await clock.advance(1_000);
    await put('one', { url: evil, title: 'Theirs' }, second);
    expect(found('one')?.securityDecision).toEqual({ decidedBy: 'root', isIntact: true });
    // What changes nothing today, but would tomorrow.
    await put('one', { url: evil, obo: { scopes: 'a' } }, second);
    expect(found('one')?.securityDecision).toEqual({ decidedBy: 'second', isIntact: true });
    const [record] = await store.overrides.list();
    expect(record).toMatchObject({ securedBy: 'second', securedAt: clock.now(), updatedBy: 'second' });
    await store.raw.put('overrides', [{ ...record!, securedBy: 'root' }]);
    await parts.refreshRegistry();
    expect(found('one')).toBeUndefined();
  });

  test('an administrator who is none any more finishes no override', async () => {
    const { put, parts, root, store, updateUserRecord } = await createRig({ one: remoteDefinition });
    await put('one', { timeout: 5 });
    for (const [change, code] of [
      [{ role: 'USER' }, 'FORBIDDEN'],
      [{ role: 'ADMIN', disabledAt: 1 }, 'AUTH_REQUIRED'],
      [{ disabledAt: null, tenant: 'default' }, 'AUTH_REQUIRED'],
    ] as const) {
      updateUserRecord('root', change);
      await expect(put('one', { timeout: 6 })).rejects.toMatchObject({ code });
      await expect(deleteOverride(parts, root, 'one')).rejects.toMatchObject({ code });
    }
    expect((await store.overrides.list()).map(({ version }) => version)).toEqual([1]);
  });
});
