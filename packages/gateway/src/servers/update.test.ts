import { secretMask } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { createConfigureRig, remoteDefinition } from '../../test/configureRig.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { inputKeys } from './validate.ts';
import { createServer } from './create.ts';
import { removeServer } from './remove.ts';
import { type ServerChange, changeServer } from './update.ts';

const url = 'https://user.example/mcp';
const obo = { scopes: 'b a' };

/** A server of Ada's, shared with Eve as editor and with Vic as viewer. */
async function createRig(config: Record<string, unknown>, file: Record<string, unknown> = {}) {
  const rig = await createConfigureRig({ file: remoteDefinition, ...file });
  const ada = rig.createPrincipal('ada', 'TRUSTED');
  const view = await createServer(rig.parts, ada, {
    config: { ...remoteDefinition, url, title: 'Mine', ...config },
  });
  const id = view.dbId!;
  await rig.grantAccess(id, 'eve', 3);
  await rig.grantAccess(id, 'vic', 1);
  rig.requests.length = 0;
  rig.events.length = 0;
  const change = (by: UserPrincipal, next: Record<string, unknown>, more: Partial<ServerChange> = {}) =>
    changeServer(rig.parts, by, 'mine', { config: next, mode: 'replace', ...more });
  return {
    ...rig,
    ada,
    id,
    change,
    definition: async () => (await rig.parts.stored.find('default', id))!.definition,
  };
}

const base = { ...remoteDefinition, url, title: 'Mine' };

describe('who may change a server', () => {
  test('unknown and invisible ones answer alike', async () => {
    const { parts, createPrincipal, events } = await createRig(
      {},
      { hidden: { ...remoteDefinition, access: { roles: ['ADMIN'] } } },
    );
    const unrelatedUser = createPrincipal('sid', 'TRUSTED');
    const otherTenant = createPrincipal('ada', 'ADMIN', { tenant: 'acme' });
    for (const who of [unrelatedUser, otherTenant]) {
      for (const name of ['mine', 'nowhere']) {
        const change = { config: base, mode: 'replace' } as const;
        await expect(changeServer(parts, who, name, change)).rejects.toMatchObject({
          code: 'MCP_SERVER_NOT_FOUND',
          errors: undefined,
        });
        await expect(removeServer(parts, who, name)).rejects.toMatchObject({ code: 'MCP_SERVER_NOT_FOUND' });
      }
    }
    await expect(removeServer(parts, unrelatedUser, 'hidden')).rejects.toMatchObject({
      code: 'MCP_SERVER_NOT_FOUND',
    });
    expect(events.every(({ outcome }) => outcome === 'refused')).toBe(true);
  });

  test('a viewer, a role and the file each have their own answer', async () => {
    const { parts, createPrincipal, change, ada, requests } = await createRig({});
    await expect(change(createPrincipal('vic', 'TRUSTED'), base)).rejects.toMatchObject({
      code: 'MCP_ACL_FORBIDDEN',
    });
    await expect(change(createPrincipal('eve', 'USER'), base)).rejects.toMatchObject({
      code: 'MCP_FORBIDDEN',
    });
    await expect(removeServer(parts, createPrincipal('eve', 'MAKER'), 'mine')).rejects.toMatchObject({
      code: 'MCP_ACL_FORBIDDEN',
    });
    const whole = { config: base, mode: 'replace' } as const;
    await expect(changeServer(parts, ada, 'file', whole)).rejects.toMatchObject({
      code: 'MCP_SERVER_MANAGED',
    });
    await expect(removeServer(parts, createPrincipal('root', 'ADMIN'), 'file')).rejects.toMatchObject({
      code: 'MCP_SERVER_MANAGED',
    });
    expect(requests).toEqual([]);
    expect(await change(createPrincipal('eve', 'MAKER'), { ...base, title: 'Ours' })).toMatchObject({
      serverName: 'mine',
      title: 'Ours',
      version: 2,
      permissions: 3,
    });
    // An administrator looks after servers that nobody shared with them.
    expect(await change(createPrincipal('root', 'ADMIN'), { ...base, title: 'Theirs' })).toMatchObject({
      version: 3,
    });
  });

  test('who is disabled or downgraded meanwhile changes and removes nothing', async () => {
    const { parts, createPrincipal, definition, updateUserRecord } = await createRig({});
    const root = createPrincipal('root', 'ADMIN');
    const before = await definition();
    const moving = { config: { ...base, url: 'https://user.example/2' }, mode: 'replace' } as const;
    for (const [change, code] of [
      [{ role: 'USER' }, 'MCP_FORBIDDEN'],
      // Still somebody who may define servers, but no longer one who looks after those of others.
      [{ role: 'MAKER' }, 'MCP_SERVER_NOT_FOUND'],
      [{ disabledAt: 1 }, 'AUTH_REQUIRED'],
    ] as const) {
      const inspect = async () => {
        updateUserRecord('root', change);
        return { tools: 1 };
      };
      updateUserRecord('root', { role: 'ADMIN', disabledAt: null });
      const changing = changeServer({ ...parts, inspect }, root, 'mine', moving);
      await expect(changing).rejects.toMatchObject({ code });
      await expect(removeServer(parts, root, 'mine')).rejects.toMatchObject({ code });
      expect(await definition()).toEqual(before);
    }
  });

  test('a change says what it saw, or meets what is there', async () => {
    const { change, ada } = await createRig({});
    for (const ifMatch of ['"2"', 'W/"2"', '1', '"01"', '', 'x, "3"']) {
      await expect(change(ada, { ...base, title: 'A' }, { ifMatch })).rejects.toMatchObject({
        code: 'MCP_VERSION_CONFLICT',
      });
    }
    let version = 1;
    for (const ifMatch of ['"1"', 'W/"2"', '*', '"9", "4"', undefined]) {
      const view = await change(ada, { ...base, title: `T${version}` }, { ifMatch });
      expect(view.version).toBe((version += 1));
    }
    // Nothing changed: nothing to count.
    expect(await change(ada, { ...base, title: 'T5' }, { ifMatch: '"6"' })).toMatchObject({ version: 6 });
  });

  test('of two who saw the same only one is stored', async () => {
    const { change, ada } = await createRig({});
    const both = await Promise.allSettled(
      ['https://a.example', 'https://b.example'].map((next) => change(ada, { ...base, url: next })),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'MCP_VERSION_CONFLICT' },
    });
  });

  test('the names of what changed are told, and no value', async () => {
    const { change, ada, events, requests, id } = await createRig({ headers: { 'X-Key': 'pl4nted' } });
    await change(ada, { ...base, title: 'New', headers: { 'X-Key': 'pl4nted-2' } });
    expect(events).toEqual([
      expect.objectContaining({
        action: 'server.change',
        outcome: 'ok',
        server: 'mine',
        serverId: id,
        changed: ['headers', 'title'],
      }),
    ]);
    expect(JSON.stringify(events)).not.toContain('pl4nted');
    expect(requests).toHaveLength(2);
    requests.length = 0;
    await change(ada, { ...base, title: 'Newer', headers: { 'X-Key': 'pl4nted-2' } });
    expect(requests).toEqual([]);
  });
});

describe('secrets of a changed server', () => {
  const secrets = {
    headers: { 'X-Key': 'pl4nted-header', 'X-Other': 'pl4nted-other' },
    oauth: {
      client_id: 'c',
      client_secret: 'pl4nted-secret',
      authorization_url: 'https://as.example/authorize',
      token_url: 'https://as.example/token',
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    },
  };
  const keyed = { apiKey: { source: 'admin', authorization_type: 'custom', key: 'pl4nted-key' } };
  const { client_secret: _secret, ...publicOauth } = secrets.oauth;

  test('left out or masked they stay while nothing they are bound to changes', async () => {
    const { change, ada, definition } = await createRig(secrets);
    const reordered = {
      ...publicOauth,
      token_url: 'https://AS.example:443/token',
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
    };
    const same: Record<string, unknown>[] = [
      { oauth: publicOauth },
      {
        oauth: { ...publicOauth, client_secret: secretMask },
        headers: { 'x-KEY': secretMask, 'X-Other': secretMask },
      },
      { oauth: reordered },
    ];
    for (const [index, more] of same.entries()) {
      await change(ada, { ...base, title: `T${index}`, ...more });
      expect(await definition()).toMatchObject(secrets);
    }
    const view = await change(ada, { title: 'Merged' }, { mode: 'merge' });
    expect(await definition()).toMatchObject({ ...secrets, title: 'Merged' });
    expect(JSON.stringify(view)).not.toContain('pl4nted');
  });

  test('they are removed when that is said', async () => {
    for (const headers of [{}, null]) {
      const { change, ada, definition } = await createRig(secrets);
      await change(ada, { ...base, headers, oauth: { ...publicOauth, client_secret: null } });
      expect(JSON.stringify(await definition())).not.toContain('pl4nted');
    }
    const { change, ada, definition } = await createRig(secrets);
    await change(ada, { headers: { 'X-Key': null }, oauth: null }, { mode: 'merge' });
    expect(await definition()).toMatchObject({ headers: { 'X-Other': 'pl4nted-other' } });
    expect(JSON.stringify(await definition())).not.toMatch(/pl4nted-(header|secret)/);
    await change(ada, { ...base, url: 'https://new.example', headers: null });
    expect(JSON.stringify(await definition())).not.toContain('pl4nted');
    const other = await createRig(keyed);
    await other.change(ada, { ...base, apiKey: { source: 'user', authorization_type: 'bearer' } });
    expect(JSON.stringify(await other.definition())).not.toContain('pl4nted');
  });

  test('each bound field alone asks for the client secret again', async () => {
    const { change, ada, requests, definition } = await createRig({ oauth: secrets.oauth });
    const bound: [string, Record<string, unknown>][] = [
      ['config.url', { ...base, url: 'https://evil.example/mcp', oauth: publicOauth }],
      ['config.url', { ...base, url: `${url}/other`, oauth: publicOauth }],
      ...Object.entries({
        authorization_url: 'https://evil.example/a',
        token_url: 'https://evil.example/t',
        client_id: 'd',
        token_exchange_method: 'default_post',
        token_endpoint_auth_methods_supported: ['client_secret_post'],
        revocation_endpoint: 'https://evil.example/r',
        revocation_endpoint_auth_methods_supported: ['none'],
      }).map(([key, value]): [string, Record<string, unknown>] => [
        `config.oauth.${key}`,
        { ...base, oauth: { ...publicOauth, [key]: value } },
      ]),
    ];
    for (const [path, next] of bound) {
      for (const config of [
        next,
        { ...next, oauth: { ...(next['oauth'] as object), client_secret: secretMask } },
      ]) {
        await expect(change(ada, config)).rejects.toMatchObject({
          code: 'MCP_OAUTH_SECRET_REENTRY_REQUIRED',
          errors: [{ path, code: 'secret_binding' }],
          changedFields: [path.replace('config.', '')],
        });
      }
      await expect(change(ada, next, { mode: 'merge' })).rejects.toMatchObject({
        code: 'MCP_OAUTH_SECRET_REENTRY_REQUIRED',
      });
    }
    expect(requests).toEqual([]);
    const [, moved] = bound[0]!;
    await change(ada, { ...moved, oauth: secrets.oauth });
    expect(await definition()).toMatchObject({ url: 'https://evil.example/mcp', oauth: secrets.oauth });
  });

  test('keys and headers never follow a changed address', async () => {
    const { change, ada, requests } = await createRig({ ...keyed, headers: secrets.headers });
    const apiKey = { source: 'admin', authorization_type: 'custom' };
    const moves: [string, Record<string, unknown>][] = [
      ['config.url', { ...base, url: 'https://evil.example/mcp', apiKey, headers: null }],
      ['config.url', { ...base, url: 'https://evil.example/mcp', apiKey: { ...apiKey, key: 'new' } }],
      [
        'config.url',
        { ...base, url: 'https://evil.example/mcp', apiKey: null, headers: { 'X-Key': secretMask } },
      ],
      ['config.apiKey.custom_header', { ...base, apiKey: { ...apiKey, custom_header: 'X-Log' } }],
      ['config.apiKey.authorization_type', { ...base, apiKey: { ...apiKey, authorization_type: 'bearer' } }],
    ];
    for (const [path, next] of moves) {
      await expect(change(ada, next)).rejects.toMatchObject({
        code: 'MCP_SECRET_REENTRY_REQUIRED',
        errors: [{ path }],
        changedFields: [path.replace('config.', '')],
      });
    }
    await expect(change(ada, { url: 'https://evil.example/mcp' }, { mode: 'merge' })).rejects.toMatchObject({
      code: 'MCP_SECRET_REENTRY_REQUIRED',
    });
    // The new host hears nothing, not even an inspection.
    expect(requests).toEqual([]);
    await expect(change(ada, { ...base, headers: { 'X-New': secretMask } })).rejects.toMatchObject({
      code: 'MCP_CONFIG_INVALID',
      errors: [{ path: 'config.headers.X-New', code: 'mask' }],
    });
  });
});

describe('the lock of an OBO server', () => {
  /** A value for every field that a user may write, other than the one it has. */
  const others: Record<string, unknown> = {
    type: 'sse',
    url: 'https://evil.example/mcp',
    headers: { 'X-Key': 'mine' },
    oauth: { client_id: 'c' },
    apiKey: { source: 'user', authorization_type: 'bearer' },
    obo: { scopes: 'a b c' },
    title: 'Other',
    description: 'Other',
    iconPath: '/other.png',
  };

  test('every field is locked but texts and the picture, also one of tomorrow', async () => {
    expect(Object.keys(others).sort()).toEqual([...inputKeys].sort());
    const config = { headers: { 'X-Key': 'pl4nted' }, description: 'D', obo };
    for (const key of inputKeys) {
      const { change, createPrincipal, definition, requests } = await createRig(config);
      const eve = createPrincipal('eve', 'MAKER');
      const before = await definition();
      const isFree = ['title', 'description', 'iconPath'].includes(key);
      const next = { ...base, description: 'D', obo, [key]: others[key] };
      // A second credential beside obo is wrong whoever asks; alone it would remove obo.
      if (key === 'oauth' || key === 'apiKey') delete (next as { obo?: object }).obo;
      const changing = change(eve, next);
      if (isFree) {
        expect(await changing).toMatchObject({ [key]: others[key], obo, version: 2 });
      } else {
        await expect(changing).rejects.toMatchObject({ code: 'MCP_OBO_FORBIDDEN' });
        await expect(change(eve, { [key]: others[key] }, { mode: 'merge' })).rejects.toMatchObject({
          code: key === 'oauth' || key === 'apiKey' ? 'MCP_CONFIG_INVALID' : 'MCP_OBO_FORBIDDEN',
        });
        // Taking away what is not there changes nothing; whatever is refused, nothing changes either.
        await change(eve, { [key]: null }, { mode: 'merge' }).catch(() => undefined);
        expect(await definition()).toEqual(before);
      }
      expect(requests).toEqual([]);
    }
  });

  test('each row of the table of refusals', async () => {
    const plain = await createRig({});
    const eve = plain.createPrincipal('eve', 'MAKER');
    await expect(plain.change(eve, { ...base, obo })).rejects.toMatchObject({ code: 'MCP_OBO_FORBIDDEN' });
    expect(await plain.change(eve, { ...base, url: 'https://user.example/2' })).toMatchObject({ version: 2 });
    const { change, definition, createPrincipal } = await createRig({ obo });
    createPrincipal('eve', 'MAKER');
    await expect(change(eve, base)).rejects.toMatchObject({
      code: 'MCP_OBO_FORBIDDEN',
      errors: [{ path: 'config.obo' }],
    });
    await expect(change(eve, { obo: { scopes: 'a' } }, { mode: 'merge' })).rejects.toMatchObject({
      code: 'MCP_OBO_FORBIDDEN',
    });
    const holder = createPrincipal('eve', 'TRUSTED');
    expect(await change(holder, { ...base, obo: { scopes: 'c' } })).toMatchObject({ obo: { scopes: 'c' } });
    expect(await definition()).toMatchObject({ obo: { scopes: 'c' } });
  });

  test('the same in another order or spelling is no change, and nothing is stored of it', async () => {
    const { change, createPrincipal, definition } = await createRig({
      headers: { 'X-A': 'one', 'X-Key': 'pl4nted' },
      obo,
    });
    const before = await definition();
    const next = {
      obo: { scopes: ' a  b' },
      headers: { 'x-key': secretMask, 'X-A': 'one' },
      title: 'New',
      url: 'https://USER.example:443/mcp',
      type: 'http',
    };
    expect(await change(createPrincipal('eve', 'MAKER'), next)).toMatchObject({ title: 'New', version: 2 });
    expect(await definition()).toEqual({ ...(before as object), title: 'New' });
  });

  test('trust moves to who changed a locked field, and only then', async () => {
    const { change, createPrincipal, parts, id } = await createRig({ obo });
    const securedBy = () => parts.registry.get('default', id)?.securityDecision;
    await change(createPrincipal('eve', 'MAKER'), { ...base, obo, title: 'New' });
    expect(securedBy()).toEqual({ decidedBy: 'ada', isIntact: true });
    await change(createPrincipal('eve', 'TRUSTED'), { ...base, obo, url: 'https://user.example/2' });
    expect(securedBy()).toEqual({ decidedBy: 'eve', isIntact: true });
  });
});
