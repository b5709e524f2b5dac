import { OverrideView, secretMask, transportSchemas } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { createConfigureRig, remoteDefinition } from '../../test/configureRig.ts';
import { createOverrides } from './overrides.ts';
import { createServer } from './create.ts';
import { deleteOverride, getOverride, putOverride } from './overrideServer.ts';
import { maskSecrets } from './secrets.ts';

const file = {
  one: { ...remoteDefinition, headers: { A: '1' } },
  process: { command: 'node' },
  'my server': remoteDefinition,
};

async function createRig() {
  const rig = await createConfigureRig(file);
  const root = rig.createPrincipal('root', 'ADMIN', { tenant: 'acme' });
  const put = (name: string, config: Record<string, unknown>, ifMatch?: string) =>
    putOverride(rig.parts, root, name, { config, ...(ifMatch !== undefined && { ifMatch }) });
  return { ...rig, root, put };
}

describe('overrides of an administrator', () => {
  test('it is laid over the file, for its tenant, and read back masked', async () => {
    const { parts, put, root, store, events } = await createRig();
    const view = await put('one', { headers: { B: 'pl4nted' }, timeout: 5, obo: { scopes: 's' } });
    expect(OverrideView.parse(view)).toMatchObject({
      serverName: 'one',
      override: {
        config: { headers: { B: secretMask }, timeout: 5, obo: { scopes: 's' } },
        version: 1,
        updatedBy: 'root',
      },
      effective: { source: 'config', obo: { scopes: 's' }, url: remoteDefinition.url, version: 1 },
    });
    expect(await getOverride(parts, root, 'one')).toEqual(view);
    expect(parts.registry.find('acme', 'one')).toMatchObject({
      settings: { timeout: 5, headers: { A: [{ text: '1' }], B: [{ text: 'pl4nted' }] } },
    });
    expect(parts.registry.find('default', 'one')).toMatchObject({ source: 'yaml' });
    expect(events).toEqual([
      expect.objectContaining({
        action: 'override.put',
        door: 'admin',
        outcome: 'ok',
        server: 'one',
        changed: ['headers', 'obo', 'timeout'],
      }),
    ]);
    const dump = JSON.stringify([view, events, await store.raw.page('overrides', null, 10)]);
    expect(dump).not.toContain('pl4nted');
    expect(await getOverride(parts, root, 'my server')).toMatchObject({
      override: null,
      effective: { source: 'yaml' },
    });
    await expect(getOverride(parts, root, 'nowhere')).rejects.toMatchObject({
      code: 'MCP_SERVER_NOT_FOUND',
    });
  });

  test('one that changes only obo counts', async () => {
    const { parts, put } = await createRig();
    await put('my server', { obo: { scopes: 'only this' } });
    expect(parts.registry.find('acme', 'my server')).toMatchObject({ auth: 'obo' });
  });

  test('what cannot be carried out is never stored', async () => {
    const { parts, put, store, createPrincipal } = await createRig();
    await createServer(parts, createPrincipal('ada', 'MAKER', { tenant: 'acme' }), {
      config: { ...remoteDefinition, title: 'Taken' },
    });
    const bad: [string, Record<string, unknown>, string][] = [
      ['one', { requiresOauth: true }, 'config.requiresOauth'],
      ['one', { timeout: 0 }, 'config.timeout'],
      ['one', { headers: { B: '${NOT_SET}' } }, 'config.headers.B'],
      ['one', { auth: 'required' }, 'config'],
      ['one', { headers: { B: secretMask } }, 'config.headers.B'],
      ['process', { command: null, ...remoteDefinition }, 'config'],
      ['new', { command: 'sh' }, 'config'],
      ['my_server', remoteDefinition, 'config'],
      ['taken', remoteDefinition, 'config'],
      ['tools', remoteDefinition, 'config'],
      ['a/b', remoteDefinition, 'config'],
    ];
    for (const [name, config, path] of bad) {
      await expect(put(name, config)).rejects.toMatchObject({
        code: 'MCP_CONFIG_INVALID',
        errors: [{ path }],
      });
    }
    expect(await store.raw.count('overrides')).toBe(0);
  });

  test('only an administrator gets there', async () => {
    const { parts, createPrincipal, store } = await createRig();
    for (const role of ['USER', 'TRUSTED']) {
      const who = createPrincipal('ada', role, { tenant: 'acme' });
      await expect(putOverride(parts, who, 'one', { config: { surprise: 1 } })).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
      await expect(getOverride(parts, who, 'one')).rejects.toMatchObject({ code: 'FORBIDDEN' });
      await expect(deleteOverride(parts, who, 'one')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
    expect(await store.raw.count('overrides')).toBe(0);
  });

  test('writes say what they saw; a deletion brings the file back', async () => {
    const { parts, put, root, events } = await createRig();
    await expect(put('one', { timeout: 5 }, '"1"')).rejects.toMatchObject({ code: 'MCP_VERSION_CONFLICT' });
    await put('one', { timeout: 5 });
    await expect(put('one', { timeout: 6 }, '"2"')).rejects.toMatchObject({ code: 'MCP_VERSION_CONFLICT' });
    expect(await put('one', { timeout: 6 }, '"1"')).toMatchObject({ override: { version: 2 } });
    await expect(deleteOverride(parts, root, 'one', { ifMatch: '"1"' })).rejects.toMatchObject({
      code: 'MCP_VERSION_CONFLICT',
    });
    await deleteOverride(parts, root, 'one', { ifMatch: '"2"' });
    expect(events.at(-1)).toMatchObject({ action: 'override.delete', outcome: 'ok' });
    expect(parts.registry.find('acme', 'one')).toMatchObject({ source: 'yaml' });
    await expect(deleteOverride(parts, root, 'one')).rejects.toMatchObject({
      code: 'MCP_SERVER_NOT_FOUND',
    });
  });

  test('masked secrets stay, but never follow to another place', async () => {
    const { parts, put } = await createRig();
    const apiKey = { source: 'admin', authorization_type: 'bearer', key: 'pl4nted-key' };
    const first = await put('my server', { headers: { B: 'pl4nted' }, apiKey });
    const { config } = first.override!;
    expect(config).toMatchObject({ apiKey: { key: secretMask }, headers: { B: secretMask } });
    await put('my server', { ...config, timeout: 7 });
    expect(parts.registry.find('acme', 'my server')).toMatchObject({
      settings: {
        timeout: 7,
        apiKey: { key: [{ text: 'pl4nted-key' }] },
        headers: { B: [{ text: 'pl4nted' }] },
      },
    });
    await expect(put('my server', { ...config, url: 'https://evil.example/mcp' })).rejects.toMatchObject({
      code: 'MCP_SECRET_REENTRY_REQUIRED',
    });
    await put('my server', { url: 'https://other.example/mcp', headers: { B: 'new' } });
  });

  test('whatever is not listed as shown is masked', () => {
    const keys = Object.values(transportSchemas).flatMap((schema) => Object.keys(schema.shape));
    const definition = Object.fromEntries([...keys, 'tomorrow'].map((key) => [key, { inner: 'pl4nted' }]));
    const hidden = Object.entries(maskSecrets(definition))
      .filter(([, value]) => !JSON.stringify(value).includes('pl4nted'))
      .map(([key]) => key);
    for (const key of ['headers', 'oauth_headers', 'env', 'args', 'command', 'cwd', 'proxy', 'tomorrow'])
      expect(hidden).toContain(key);
  });

  test('one that does not open hides its server', async () => {
    const { parts, put, store, logged } = await createRig();
    await put('one', { timeout: 5 });
    const [row] = await store.overrides.list();
    await store.raw.put('overrides', [{ ...row!, configSealed: row!.configSealed.slice(0, -4) + 'AAAA' }]);
    await parts.refreshRegistry();
    expect(parts.registry.find('acme', 'one')).toBeUndefined();
    expect(parts.registry.find('default', 'one')).toBeDefined();
    expect(logged.join()).toContain('override_unreadable');
  });

  test('moved into another row it does not open there', async () => {
    const { parts, put, store } = await createRig();
    await put('one', { timeout: 5 });
    await put('my server', { timeout: 6 });
    const rows = await store.overrides.list();
    const [a, b] = [rows.find(({ name }) => name === 'one')!, rows.find(({ name }) => name !== 'one')!];
    await store.raw.put('overrides', [{ ...a, configSealed: b.configSealed }]);
    await parts.refreshRegistry();
    expect(parts.registry.find('acme', 'one')).toBeUndefined();
  });

  test('before the first answer and after an outage nobody knows', async () => {
    const { clock, store, keyring } = await createRig();
    let away = true;
    let checkedAt = 0;
    const received: unknown[] = [];
    const followed = createOverrides({
      store: {
        ...store.overrides,
        list: () => (away ? Promise.reject(new Error('away')) : store.overrides.list()),
      },
      keyring,
      changes: { ...store.changes, syncedUntil: () => (checkedAt = away ? checkedAt : clock.now()) },
      clock,
      log: () => undefined,
    }).subscribe((overrides) => received.push(overrides));
    await followed.ready;
    expect(received).toEqual(['unknown']);
    away = false;
    await clock.advance(1_000);
    expect(received).toEqual(['unknown', []]);
    away = true;
    await clock.advance(32_000);
    expect(received).toEqual(['unknown', [], 'unknown']);
    followed.stop();
  });
});
