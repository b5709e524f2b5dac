import { describe, expect, test } from '@jest/globals';
import { createConfigureRig, remoteDefinition } from '../../test/configureRig.ts';
import { createServer } from './create.ts';
import { putOverride } from './overrideServer.ts';
import { changeServer } from './update.ts';

const own = { type: 'streamable-http', url: 'https://user.example/mcp' };
const graph = 'https://graph.microsoft.com/.default';
const invalid = (path: string, code: string) => ({
  code: 'MCP_CONFIG_INVALID',
  errors: [expect.objectContaining({ path: `config.${path}`, code })],
});
const identityProviders = {
  corporate: {
    ...{ type: 'token-exchange', issuer: 'https://sso.example', clientId: 'c', clientSecret: 's' },
    targets: [{ scopes: ['a', graph], origins: ['https://base.example'] }],
  },
  free: { type: 'token-exchange', issuer: 'https://sso.example', clientId: 'c', clientSecret: 's' },
};

describe('where a definition that is stored may lead', () => {
  test('no server of a user takes a token of Graph to an address of theirs', async () => {
    const { parts, createPrincipal, requests, store } = await createConfigureRig();
    const holder = createPrincipal('mal', 'TRUSTED');
    for (const scopes of [graph, `api://x/y ${graph}`, 'api://behalf/.default', 'behalf']) {
      const creating = createServer(parts, holder, { config: { ...own, obo: { scopes } } });
      await expect(creating).rejects.toMatchObject(invalid('obo.scopes', 'obo_scope'));
    }
    const plain = { ...own, url: 'http://user.example/mcp', obo: { scopes: 'x' } };
    await expect(createServer(parts, holder, { config: plain })).rejects.toMatchObject(
      invalid('url', 'plain_http'),
    );
    // Before anything was opened or stored; and who may not configure it at all is told only that.
    expect([requests, await store.raw.count('servers')]).toEqual([[], 0]);
    const maker = createServer(parts, createPrincipal('ada', 'MAKER'), {
      config: { ...own, obo: { scopes: graph } },
    });
    await expect(maker).rejects.toMatchObject({ code: 'MCP_OBO_FORBIDDEN' });
  });

  test('nor by a change of one that was harmless', async () => {
    const { parts, createPrincipal, requests } = await createConfigureRig();
    const holder = createPrincipal('mal', 'TRUSTED');
    const config = { ...own, title: 'Mine', obo: { scopes: 'x' } };
    await createServer(parts, holder, { config });
    requests.length = 0;
    const change = (next: Record<string, unknown>) =>
      changeServer(parts, holder, 'mine', { config: next, mode: 'merge' });
    await expect(change({ obo: { scopes: graph } })).rejects.toMatchObject(
      invalid('obo.scopes', 'obo_scope'),
    );
    await expect(change({ url: 'http://user.example' })).rejects.toMatchObject(invalid('url', 'plain_http'));
    for (const key of ['provider', 'grant', 'audience', 'resource']) {
      const next = { obo: { scopes: 'x', [key]: key === 'grant' ? 'jwt-bearer' : 'free' } };
      await expect(change(next)).rejects.toMatchObject(invalid(`obo.${key}`, 'operator_only'));
    }
    expect(requests).toEqual([]);
    // The provider's list came later than the server: its texts may still change.
    const strict = {
      findProblem: () => ({ code: 'obo_target', message: '', suggestion: '', path: ['obo'] }),
    };
    const under = { ...parts, oboTargets: strict };
    const retitle = { config: { title: 'Other' }, mode: 'merge' } as const;
    expect(await changeServer(under, holder, 'mine', retitle)).toMatchObject({ title: 'Other' });
  });

  test('where nobody described the login, a scope names its resource', async () => {
    const file = { one: { ...remoteDefinition, obo: { scopes: 'Mail.Read' } } };
    const { parts, createPrincipal } = await createConfigureRig(file, {}, { identityProviders: {} });
    const holder = createPrincipal('mal', 'TRUSTED');
    const root = createPrincipal('root', 'ADMIN', { tenant: 'acme' });
    for (const scopes of ['Mail.Read', 'read', 'openid', 'api://mail/read read']) {
      const config = { ...own, obo: { scopes } };
      const refused = invalid('obo.scopes', 'obo_scope');
      await expect(createServer(parts, holder, { config })).rejects.toMatchObject(refused);
      await expect(putOverride(parts, root, 'new', { config })).rejects.toMatchObject(refused);
      await expect(
        putOverride(parts, root, 'one', { config: { url: own.url, obo: { scopes } } }),
      ).rejects.toMatchObject(refused);
    }
    const config = { ...own, obo: { scopes: 'api://mail/read' } };
    expect(await createServer(parts, holder, { config })).toMatchObject({ source: 'user' });
    // What the file says is the operator's, under an override too.
    expect(await putOverride(parts, root, 'one', { config: { timeout: 5 } })).toMatchObject({
      effective: { obo: { scopes: 'Mail.Read' } },
    });
  });

  test('a server may wait for a provider', async () => {
    const { parts, createPrincipal } = await createConfigureRig();
    const oboTargets = {
      findProblem: () => ({ code: 'obo_login', message: '', suggestion: '', path: ['obo'] }),
    };
    const config = { ...own, obo: { scopes: 'x' } };
    const view = await createServer({ ...parts, oboTargets }, createPrincipal('bea', 'TRUSTED'), { config });
    expect(view.obo).toEqual({ scopes: 'x' });
  });

  test('an administrator’s override is held to the targets', async () => {
    const audience = { provider: 'corporate', scopes: 'a', audience: 'api://orders' };
    const file = {
      ...{ one: remoteDefinition, graph: { ...remoteDefinition, obo: { scopes: graph } } },
      orders: { ...remoteDefinition, obo: audience },
    };
    const { parts, createPrincipal } = await createConfigureRig(file, {}, { identityProviders });
    const root = createPrincipal('root', 'ADMIN', { tenant: 'acme' });
    const put = (name: string, config: Record<string, unknown>) => putOverride(parts, root, name, { config });
    const at = { provider: 'corporate', scopes: 'a' };
    for (const [name, config, path, code] of [
      ['one', { obo: { scopes: graph } }, 'obo.scopes', 'obo_scope'],
      ['one', { obo: { scopes: 'x', provider: 'free', audience: graph } }, 'obo.audience', 'obo_scope'],
      ['one', { obo: { ...at, scopes: 'a b' } }, 'obo', 'obo_target'],
      ['one', { url: 'https://evil.example', obo: at }, 'obo', 'obo_target'],
      ['one', { url: 'http://evil.example', obo: { scopes: 'x' } }, 'url', 'plain_http'],
      ['one', { obo: { scopes: 'x', provider: 'corprate' } }, 'obo.provider', 'provider_unknown'],
      ['graph', { url: 'https://evil.example' }, 'obo.scopes', 'obo_scope'],
      ['new', { ...own, obo: { scopes: graph } }, 'obo.scopes', 'obo_scope'],
    ] as const) {
      await expect(put(name, config)).rejects.toMatchObject(invalid(path, code));
    }
    // The scopes and the origin are listed; for another audience they are another token.
    for (const [name, config, path] of [
      ['one', { obo: { ...at, audience: 'behalf' } }, 'obo.audience'],
      ['one', { obo: { ...at, resource: 'https://hr.example' } }, 'obo.resource'],
      ['one', { obo: audience }, 'obo.audience'],
      ['orders', { obo: { audience: 'api://hr' } }, 'obo.audience'],
      ['orders', { obo: { resource: 'https://hr.example' } }, 'obo.audience'],
      ['orders', { url: `${remoteDefinition.url}/other` }, 'obo.audience'],
      ['new', { ...remoteDefinition, obo: { ...at, audience: 'behalf' } }, 'obo.audience'],
    ] as const) {
      await expect(put(name, config)).rejects.toMatchObject(invalid(path, 'obo_target'));
    }
    expect(await put('one', { obo: at })).toMatchObject({ effective: { obo: at } });
    // The file's own stays, whatever else is changed.
    expect(await put('orders', { timeout: 5 })).toMatchObject({ effective: { obo: audience } });
    expect(await put('graph', { timeout: 5 })).toMatchObject({ effective: { obo: { scopes: graph } } });
    // What the operator decided stands under another title.
    expect(await put('graph', { title: 'Files' })).toMatchObject({ effective: { title: 'Files' } });
  });

  test('an override stands for no token of the user', async () => {
    const token = '{{LIBRECHAT_OPENID_ACCESS_TOKEN}}';
    const file = {
      one: remoteDefinition,
      two: { ...remoteDefinition, headers: { Authorization: `Bearer ${token}` } },
    };
    const { parts, createPrincipal } = await createConfigureRig(file);
    const root = createPrincipal('root', 'ADMIN', { tenant: 'acme' });
    const put = (name: string, config: Record<string, unknown>) => putOverride(parts, root, name, { config });
    for (const name of ['OPENID_ACCESS_TOKEN', 'OPENID_ID_TOKEN', 'OPENID_TOKEN', 'GRAPH_ACCESS_TOKEN']) {
      const text = `Bearer {{LIBRECHAT_${name}}}`;
      await expect(put('one', { headers: { A: text } })).rejects.toMatchObject(
        invalid('headers.A', 'placeholder_forbidden'),
      );
      const apiKey = { source: 'admin', authorization_type: 'bearer', key: text };
      await expect(put('new', { ...own, apiKey })).rejects.toMatchObject(
        invalid('apiKey.key', 'placeholder_forbidden'),
      );
    }
    // Nor does it lead one of the file's elsewhere.
    await expect(put('two', { url: 'https://evil.example' })).rejects.toMatchObject({
      code: 'MCP_SECRET_REENTRY_REQUIRED',
    });
    expect(await put('one', { headers: { A: '{{LIBRECHAT_USER_EMAIL}}' } })).toMatchObject({
      effective: { source: 'config' },
    });
  });

  test('what users enter or are given is not sent in the clear', async () => {
    const more = {
      mcpSettings: { allowedDomains: ['user.example', 'http://plain.example:8080', 'ws://*.w.example'] },
    };
    const { parts, createPrincipal, requests } = await createConfigureRig(
      { one: remoteDefinition },
      {},
      more,
    );
    const ada = createPrincipal('ada', 'MAKER');
    const apiKey = { source: 'user', authorization_type: 'bearer' };
    const make = (config: Record<string, unknown>) =>
      createServer(parts, ada, { config: { ...own, ...config } });
    for (const config of [
      { url: 'http://user.example/mcp', apiKey },
      { url: 'http://{{MCP_API_KEY}}.user.example/mcp', apiKey },
      { url: 'http://user.example/mcp', oauth: { client_id: 'c' } },
      { url: 'http://plain.example/mcp', apiKey },
      { url: 'http://sub.plain.example:8080/mcp', apiKey },
      { type: 'websocket', url: 'ws://user.example', apiKey },
    ]) {
      await expect(make(config)).rejects.toMatchObject(invalid('url', 'plain_http'));
    }
    expect(requests).toEqual([]);
    for (const config of [
      { apiKey },
      { url: 'http://127.0.0.1:9/mcp', apiKey },
      { url: 'http://plain.example:8080/mcp', apiKey },
      { type: 'websocket', url: 'ws://a.w.example', apiKey },
      // Nothing of anybody's is sent there.
      { url: 'http://user.example/mcp' },
    ]) {
      expect(await make(config)).toMatchObject({ source: 'user' });
    }
    const root = createPrincipal('root', 'ADMIN', { tenant: 'acme' });
    const moved = { config: { url: 'http://user.example', apiKey } };
    await expect(putOverride(parts, root, 'one', moved)).rejects.toMatchObject(invalid('url', 'plain_http'));
  });
});
