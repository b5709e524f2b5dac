import { ServerView, transportSchemas } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { createConfigureRig, remoteDefinition } from '../../test/configureRig.ts';
import { createServer } from './create.ts';
import { listAllServers, listServers, viewServer } from './view.ts';

const oauth = {
  client_id: 'client',
  client_secret: 'pl4nted-secret',
  authorization_url: 'https://as.example/authorize',
  token_url: 'https://as.example/token',
  scope: 'read',
};
const own = {
  ...remoteDefinition,
  url: 'https://user.example/mcp',
  title: 'Mine',
  description: 'For us',
  headers: { 'X-Key': 'pl4nted-header' },
};

/** A value for every field of a definition there is, with a word in it that must not come out. */
const everything: Record<string, unknown> = {
  startup: false,
  timeout: 1_234,
  initTimeout: 1_234,
  sseReadTimeout: 1_234,
  title: 'Title',
  description: 'Description',
  iconPath: '/icon.png',
  chatMenu: false,
  serverInstructions: 'Be kind',
  requiresOAuth: true,
  oauth,
  oauth_headers: { A: 'pl4nted-oauth-header' },
  apiKey: { source: 'admin', authorization_type: 'custom', key: 'pl4nted-key', custom_header: 'X-K' },
  customUserVars: { TOKEN: { title: 'Token', description: 'Yours' } },
  exclusive: true,
  access: { users: ['pl4nted-user', 'vic'], roles: ['USER', 'ADMIN'] },
  tools: { include: ['pl4nted-tool'] },
  trustAnnotations: true,
  idempotentTools: ['pl4nted-idempotent'],
  era: 'modern',
  relay: ['roots'],
  headers: { A: 'pl4nted-header' },
  proxy: 'http://pl4nted:pl4nted@proxy.example',
  type: 'streamable-http',
  url: 'https://base.example/${SECRET_OF_ENV}',
};
/** Those that cannot stand beside the others, or that nothing here carries out. */
const apart = [
  'obo',
  'auth',
  'caFile',
  'oauthRefreshWaitTimeout',
  'oauthRefreshCoordination',
  'oauthPersistenceWaitTimeout',
];

describe('what is shown of a server', () => {
  test('a viewer, an editor and an administrator each see their part', async () => {
    const { parts, createPrincipal, grantAccess } = await createConfigureRig();
    const { dbId } = await createServer(parts, createPrincipal('ada', 'MAKER'), {
      config: { ...own, oauth },
    });
    await grantAccess(dbId!, 'vic', 1);
    await grantAccess(dbId!, 'eve', 3);
    const common = {
      type: 'streamable-http',
      title: 'Mine',
      description: 'For us',
      chatMenu: true,
      requiresOAuth: true,
      serverInstructions: false,
      source: 'user',
      dbId,
      author: 'ada',
      version: 1,
      updatedAt: parts.clock.now(),
    };
    const { client_secret: _secret, authorization_url, token_url, ...shown } = oauth;
    expect(viewServer(parts, createPrincipal('vic', 'USER'), 'mine')).toEqual({
      ...common,
      oauth: shown,
      permissions: 1,
    });
    const whole = { ...common, url: own.url, oauth: { ...shown, authorization_url, token_url } };
    expect(viewServer(parts, createPrincipal('eve', 'USER'), 'mine')).toEqual({ ...whole, permissions: 3 });
    expect(viewServer(parts, createPrincipal('root', 'ADMIN'), 'mine')).toEqual({
      ...whole,
      permissions: 15,
    });
    expect(await parts.stored.find('default', dbId!)).toMatchObject({ definition: { ...own, oauth } });
  });

  test('of all that a definition can say only what is listed comes out', async () => {
    const known = new Set(Object.keys(transportSchemas['streamable-http'].shape));
    expect([...Object.keys(everything), ...apart].sort()).toEqual([...known].sort());
    const { parts, createPrincipal } = await createConfigureRig({ file: everything });
    const audiences = [createPrincipal('vic', 'USER'), createPrincipal('root', 'ADMIN')];
    for (const who of audiences) {
      const view = viewServer(parts, who, 'file');
      const text = JSON.stringify(ServerView.parse(view));
      expect(text).not.toContain('pl4nted');
      for (const key of Object.keys(view))
        expect([
          'type',
          'url',
          'title',
          'description',
          'iconPath',
          'chatMenu',
          'requiresOAuth',
          'serverInstructions',
          'customUserVars',
          'apiKey',
          'oauth',
          'source',
          'permissions',
        ]).toContain(key);
      expect('url' in view).toBe(who.role === 'ADMIN');
      expect(view.apiKey).toEqual({ source: 'admin', authorization_type: 'custom', custom_header: 'X-K' });
      expect(view.customUserVars).toEqual({
        TOKEN: { title: 'Token', description: 'Yours', sensitive: true },
      });
    }
    // As it was written: what a variable of the operator holds is shown to nobody.
    expect(viewServer(parts, createPrincipal('root', 'ADMIN'), 'file').url).toBe(
      'https://base.example/${SECRET_OF_ENV}',
    );
    expect(JSON.stringify(await listAllServers(parts, createPrincipal('root', 'ADMIN')))).not.toContain(
      'pl4nted',
    );
  });

  test('obo is shown whole, and such a server asks for no sign-in', async () => {
    const obo = { scopes: 'a b', audience: 'api://x' };
    const { parts, createPrincipal } = await createConfigureRig({
      file: { ...remoteDefinition, obo, requiresOAuth: true },
    });
    expect(viewServer(parts, createPrincipal('vic', 'USER'), 'file')).toMatchObject({
      obo,
      requiresOAuth: false,
    });
  });

  test('a key that each user enters is declared like other values', async () => {
    const { parts, createPrincipal } = await createConfigureRig();
    const config = { ...own, headers: null, apiKey: { source: 'user', authorization_type: 'bearer' } };
    const view = await createServer(parts, createPrincipal('ada', 'MAKER'), { config });
    expect(view.customUserVars).toEqual({
      MCP_API_KEY: { title: 'API key', description: 'Your API key for this server', sensitive: true },
    });
    expect(view.apiKey).toEqual({ source: 'user', authorization_type: 'bearer' });
  });

  test('servers of the file by name, and only those the caller may see', async () => {
    const { parts, createPrincipal } = await createConfigureRig({
      file: remoteDefinition,
      closed: { ...remoteDefinition, access: { roles: ['ADMIN'] } },
    });
    await createServer(parts, createPrincipal('ada', 'MAKER'), { config: own });
    const names = (who: ReturnType<typeof createPrincipal>) =>
      listServers(parts, who)
        .servers.map(({ name }) => name)
        .sort();
    expect(names(createPrincipal('vic', 'USER'))).toEqual(['file']);
    expect(names(createPrincipal('ada', 'MAKER'))).toEqual(['file', 'mine']);
    expect(names(createPrincipal('root', 'ADMIN'))).toEqual(['closed', 'file', 'mine']);
    expect(names(createPrincipal('ada', 'ADMIN', { tenant: 'acme' }))).toEqual(['closed', 'file']);
    expect(viewServer(parts, createPrincipal('vic', 'USER'), 'file')).toMatchObject({
      source: 'yaml',
      permissions: 1,
    });
    for (const name of ['closed', 'mine', 'nowhere'])
      expect(() => viewServer(parts, createPrincipal('vic', 'USER'), name)).toThrow(
        expect.objectContaining({ code: 'MCP_SERVER_NOT_FOUND' }),
      );
    expect(() => listServers(parts, createPrincipal('nob', 'NO_USE'))).toThrow(
      expect.objectContaining({ code: 'MCP_FORBIDDEN' }),
    );
    await expect(listAllServers(parts, createPrincipal('ada', 'TRUSTED'))).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
  });

  test('pages and a search, in the order of the names', async () => {
    const { parts, createPrincipal } = await createConfigureRig({
      b: remoteDefinition,
      a: remoteDefinition,
      d: { ...remoteDefinition, title: 'Find ME' },
      c: { ...remoteDefinition, description: 'find me too' },
    });
    const vic = createPrincipal('vic', 'USER');
    const page = (query: object) => {
      const { servers, next } = listServers(parts, vic, query);
      return [servers.map(({ name }) => name).join(), next];
    };
    expect(page({})).toEqual(['b,a,d,c', undefined]);
    expect(page({ limit: 3 })).toEqual(['a,b,c', 'c']);
    expect(page({ limit: 3, after: 'c' })).toEqual(['d', undefined]);
    expect(page({ limit: 4 })).toEqual(['a,b,c,d', undefined]);
    expect(page({ search: 'find ME' })).toEqual(['c,d', undefined]);
    expect(page({ search: 'find', limit: 1 })).toEqual(['c', 'c']);
  });
});
