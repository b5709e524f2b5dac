import { secretMask } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { type ConfigureRig, createConfigureRig, remoteDefinition } from '../../test/configureRig.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { createServer } from './create.ts';
import { changeServer, checkServerDefinition } from './update.ts';

const own = { ...remoteDefinition, url: 'https://user.example/mcp', title: 'My Server' };
/** Each user enters one. */
const ownKey = { source: 'user', authorization_type: 'bearer' };
const mode = 'replace' as const;

/** What an attempt came to, as its caller would hear it. */
async function captureError(attempt: Promise<unknown>): Promise<unknown> {
  try {
    await attempt;
    return 'done';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, detail, errors, changedFields } = error;
    return { code, detail, errors, changedFields };
  }
}

/** A server with a secret, which its author and a user with EDIT may change. */
async function withServer(rig: ConfigureRig, more: object = {}) {
  const ada = rig.createPrincipal('ada', 'TRUSTED');
  const config = { ...own, headers: { 'X-Key': 'pl4nted' }, ...more };
  const { dbId = '' } = await createServer(rig.parts, ada, { config });
  await rig.grantAccess(dbId, 'eve', 0b0011);
  rig.requests.length = 0;
  rig.events.length = 0;
  return { ada, config, masked: { ...config, headers: { 'X-Key': secretMask } } };
}

describe('a check of a server', () => {
  test('of a new one is answered as creating it would be', async () => {
    const cases: [role: string, config: Record<string, unknown>][] = [
      ['MAKER', own],
      ['USER', own],
      ['MAKER', { ...own, timeout: 5, surprise: 1 }],
      ['MAKER', { ...own, type: 'stdio', command: 'sh' }],
      ['MAKER', { ...own, headers: { 'X-Key': secretMask } }],
      ['MAKER', { ...own, obo: { scopes: 'api://x/.default' } }],
      ['TRUSTED', { ...own, obo: { scopes: 'api://x/.default' } }],
      ['MAKER', { ...own, url: 'http://user.example/mcp', apiKey: ownKey }],
    ];
    for (const [role, config] of cases) {
      const [first, second] = [await createConfigureRig(), await createConfigureRig()];
      const checked = await captureError(
        checkServerDefinition(first.parts, first.createPrincipal('ada', role), { config, mode }),
      );
      const saved = await captureError(
        createServer(second.parts, second.createPrincipal('ada', role), { config }),
      );
      expect([config, checked]).toEqual([config, saved]);
      expect(first.requests).toEqual(second.requests);
    }
    for (const over of [
      { checkAddress: () => Promise.reject(new GatewayError('MCP_DOMAIN_NOT_ALLOWED')) },
      {
        inspect: () => Promise.reject(new GatewayError('MCP_INSPECTION_FAILED', { detail: 'nobody there' })),
      },
      { maxPerUser: 0 },
    ]) {
      const rig = await createConfigureRig({}, over);
      const ada = rig.createPrincipal('ada', 'MAKER');
      const checked = await captureError(checkServerDefinition(rig.parts, ada, { config: own, mode }));
      expect(checked).toMatchObject({ code: expect.any(String) });
      expect(checked).toEqual(await captureError(createServer(rig.parts, ada, { config: own })));
    }
  });

  test('of a change is answered as making it would be', async () => {
    const cases: [who: string, role: string, server: string, change: Record<string, unknown>][] = [
      ['ada', 'MAKER', 'my-server', { title: 'New' }],
      ['ada', 'MAKER', 'my-server', { url: 'https://other.example/mcp' }],
      ['ada', 'MAKER', 'my-server', { url: 'https://other.example/mcp', headers: { 'X-Key': 'again' } }],
      ['ada', 'MAKER', 'my-server', { obo: { scopes: 'api://x/.default' } }],
      ['ada', 'USER', 'my-server', { title: 'New' }],
      ['eve', 'MAKER', 'my-server', { title: 'New', timeout: 1 }],
      ['bob', 'MAKER', 'my-server', { title: 'New' }],
      ['ada', 'MAKER', 'unheard', { title: 'New' }],
      ['ada', 'MAKER', 'file', { title: 'New' }],
    ];
    for (const [who, role, server, change] of cases) {
      const [first, second] = [
        await createConfigureRig({ file: remoteDefinition }),
        await createConfigureRig({ file: remoteDefinition }),
      ];
      const { masked } = await withServer(first);
      await withServer(second);
      const config = { ...masked, ...change };
      const checking = checkServerDefinition(first.parts, first.createPrincipal(who, role), {
        config,
        mode,
        server,
      });
      const saving = changeServer(second.parts, second.createPrincipal(who, role), server, { config, mode });
      const [checked, saved] = [await captureError(checking), await captureError(saving)];
      expect([change, checked]).toEqual([change, saved]);
    }
  });

  test('of an OBO server names the fields that are locked', async () => {
    const rig = await createConfigureRig();
    await withServer(rig, { obo: { scopes: 'api://x/.default' }, headers: undefined });
    const eve = rig.createPrincipal('eve', 'MAKER');
    const config = { ...own, obo: { scopes: 'api://x/.default' }, title: 'New' };
    expect(await checkServerDefinition(rig.parts, eve, { config, mode, server: 'my-server' })).toEqual({
      inspected: false,
    });
    const moved = { ...config, url: 'https://evil.example/mcp' };
    await expect(
      checkServerDefinition(rig.parts, eve, { config: moved, mode, server: 'my-server' }),
    ).rejects.toMatchObject({
      code: 'MCP_OBO_FORBIDDEN',
      errors: [{ path: 'config.url', code: 'obo_locked' }],
    });
    expect(rig.requests).toEqual(['check https://user.example/mcp']);
  });

  test('leaves nothing in the store, and a good one no change to tell', async () => {
    const rig = await createConfigureRig();
    const ada = rig.createPrincipal('ada', 'MAKER');
    expect(await checkServerDefinition(rig.parts, ada, { config: own, mode })).toEqual({
      inspected: true,
      tools: 1,
    });
    const counts = async () => [await rig.store.raw.count('servers'), await rig.store.raw.count('acl')];
    const good = { kind: 'config', action: 'server.check', outcome: 'ok' };
    expect([await counts(), rig.events]).toMatchObject([[0, 0], [good]]);
    const { masked } = await withServer(rig);
    const before = [await rig.store.raw.page('servers', null, 10), await counts()];
    const config = { ...masked, title: 'New', description: 'Other' };
    await checkServerDefinition(rig.parts, ada, { config, mode, server: 'my-server' });
    expect([await rig.store.raw.page('servers', null, 10), await counts()]).toEqual(before);
    expect(rig.parts.registry.find('default', 'my-server')?.settings.title).toBe('My Server');
    expect(rig.events).toMatchObject([good]);
  });

  test('that went well is told of, by names alone', async () => {
    const rig = await createConfigureRig();
    const { ada, masked } = await withServer(rig);
    await checkServerDefinition(rig.parts, ada, { config: masked, mode, server: 'my-server' });
    expect(rig.events).toHaveLength(1);
    expect(rig.events[0]).toMatchObject({
      ...{ kind: 'config', action: 'server.check', outcome: 'ok', server: 'my-server' },
      serverId: rig.parts.registry.find('default', 'my-server')?.id,
    });
    expect(JSON.stringify(rig.events)).not.toMatch(/pl4nted|user\.example/);
  });

  test('that is refused is told of, as an attempt to save is', async () => {
    const rig = await createConfigureRig();
    const ada = rig.createPrincipal('ada', 'MAKER');
    const config = { ...own, obo: { scopes: 'api://x/.default' } };
    await captureError(checkServerDefinition(rig.parts, ada, { config, mode }));
    const refused = { kind: 'config', action: 'server.check', outcome: 'refused' };
    expect(rig.events).toMatchObject([{ ...refused, code: 'MCP_OBO_FORBIDDEN' }]);
    const { masked } = await withServer(rig);
    const otherUrl = { ...masked, url: 'https://evil.example/mcp' };
    await captureError(
      checkServerDefinition(rig.parts, rig.createPrincipal('eve', 'MAKER'), {
        config: otherUrl,
        mode,
        server: 'my-server',
      }),
    );
    expect(rig.events).toMatchObject([
      {
        ...{ ...refused, code: 'MCP_SECRET_REENTRY_REQUIRED' },
        ...{ server: 'my-server', serverId: rig.parts.registry.find('default', 'my-server')?.id },
      },
    ]);
    expect(rig.requests).toEqual([]);
  });

  test('looks at a server with its own secrets, also where only texts change', async () => {
    const seen: unknown[] = [];
    const rig = await createConfigureRig(
      {},
      {
        async inspect({ settings }) {
          seen.push('headers' in settings && settings.headers);
          return { tools: 3 };
        },
      },
    );
    const { ada, masked } = await withServer(rig);
    seen.length = 0;
    const checked = await checkServerDefinition(rig.parts, ada, {
      config: { ...masked, title: 'New' },
      mode,
      server: 'my-server',
    });
    expect(checked).toEqual({ inspected: true, tools: 3 });
    expect(JSON.stringify(seen)).toContain('pl4nted');
    expect(JSON.stringify(checked)).not.toContain('pl4nted');
    const merged = await checkServerDefinition(rig.parts, ada, {
      ...{ config: { title: null }, mode: 'merge', server: 'my-server' },
    });
    expect(merged).toEqual({ inspected: true, tools: 3 });
  });

  test('says when it has to wait for a user', async () => {
    const rig = await createConfigureRig({}, { inspect: async () => ({}) });
    const ada = rig.createPrincipal('ada', 'MAKER');
    const signsIn = await checkServerDefinition(rig.parts, ada, { config: own, mode });
    const config = { ...own, apiKey: ownKey };
    expect([signsIn, await checkServerDefinition(rig.parts, ada, { config, mode })]).toEqual([
      { inspected: false },
      { inspected: false },
    ]);
  });
});
