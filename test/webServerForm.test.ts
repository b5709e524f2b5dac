import { secretMask } from '@behalf/contracts';
import { changeServer, createServer, viewServer } from '@behalf/gateway';
import { describe, expect, test } from '@jest/globals';
import { createConfigureRig } from '../packages/gateway/test/configureRig.ts';
import {
  authKinds,
  toServerConfig,
  emptyForm,
  toServerForm,
  transports,
  type ServerForm,
} from '../packages/web/src/servers/form/serverForm.ts';

const place = { type: 'streamable-http', url: 'https://user.example/mcp' };

/** One of each kind, with more than the form has fields for. */
const definitions: Readonly<Record<string, Record<string, unknown>>> = {
  plain: { ...place, description: 'Plain', iconPath: '/icon.png', headers: { 'X-Key': 'pl4nted-header' } },
  'old-style': { type: 'sse', url: 'https://user.example/sse' },
  socket: { type: 'websocket', url: 'wss://user.example/ws' },
  key: {
    ...place,
    apiKey: { source: 'admin', authorization_type: 'custom', custom_header: 'X-Mine', key: 'pl4nted-key' },
  },
  'own-key': { ...place, apiKey: { source: 'user', authorization_type: 'basic' } },
  signed: {
    ...place,
    oauth: {
      client_id: 'client',
      client_secret: 'pl4nted-secret',
      authorization_url: 'https://sso.example/authorize',
      token_url: 'https://sso.example/token',
      revocation_endpoint: 'https://sso.example/revoke',
      redirect_uri: 'https://old.example/callback',
      scope: 'read write',
      token_exchange_method: 'basic_auth_header',
      grant_types_supported: ['authorization_code'],
      code_challenge_methods_supported: ['S256'],
    },
  },
  discovered: { ...place, oauth: {} },
  obo: { ...place, obo: { scopes: 'api://b/read api://a/read' } },
};

/** A server of Ada's for each of them; Eve may edit all, and may not configure On-Behalf-Of. */
async function createRig() {
  const rig = await createConfigureRig();
  const ada = rig.createPrincipal('ada', 'TRUSTED');
  const eve = rig.createPrincipal('eve', 'MAKER');
  for (const [title, config] of Object.entries(definitions)) {
    const { dbId = '' } = await createServer(rig.parts, ada, { config: { ...config, title } });
    await rig.grantAccess(dbId, 'eve', 3);
  }
  const stored = async (name: string) => {
    const { dbId = '' } = viewServer(rig.parts, ada, name);
    return (await rig.parts.stored.find('default', dbId))!.definition;
  };
  /** What the dialog does: read, change the form, send the whole definition with the version that was read. */
  const edit = async (who: typeof ada, name: string, patch: Partial<ServerForm>) => {
    const view = viewServer(rig.parts, who, name);
    const config = toServerConfig({ ...toServerForm(view), ...patch }, view);
    return changeServer(rig.parts, who, name, { config, mode: 'replace', ifMatch: `"${view.version}"` });
  };
  return { ...rig, ada, eve, stored, edit };
}

describe('the form of a server, against the gateway', () => {
  test('what is opened and saved is no change', async () => {
    const { ada, edit, stored } = await createRig();
    for (const [name, config] of Object.entries(definitions)) {
      expect([name, (await edit(ada, name, {})).version]).toEqual([name, 1]);
      expect(await stored(name)).toEqual({ ...config, title: name });
    }
  });

  test('an edit of the title changes the title alone, by anybody', async () => {
    const { eve, edit, stored, requests } = await createRig();
    requests.length = 0;
    for (const [name, config] of Object.entries(definitions)) {
      await edit(eve, name, { title: 'Another', description: 'Other words' });
      expect(await stored(name)).toEqual({ ...config, title: 'Another', description: 'Other words' });
    }
    expect(requests).toEqual([]);
  });

  test('secrets are kept unseen, typed anew or taken away', async () => {
    const { ada, edit, stored, parts } = await createRig();
    const view = (name: string) => viewServer(parts, ada, name);
    expect(JSON.stringify(Object.keys(definitions).map((name) => toServerForm(view(name))))).not.toContain(
      'pl4nted',
    );
    expect(toServerConfig(toServerForm(view('key')), view('key'))).toMatchObject({
      apiKey: { key: secretMask },
    });

    const { apiKey } = toServerForm(view('key'));
    await edit(ada, 'key', { apiKey: { ...apiKey, key: 'typed' }, url: 'https://new.example/mcp' });
    expect(await stored('key')).toMatchObject({ url: 'https://new.example/mcp', apiKey: { key: 'typed' } });
    await edit(ada, 'plain', { replacesHeaders: true, headers: [{ id: 1, name: 'X-New', value: 'typed' }] });
    expect(await stored('plain')).toMatchObject({ headers: { 'X-New': 'typed' } });
    await edit(ada, 'plain', { replacesHeaders: true, headers: [] });
    expect(await stored('plain')).toMatchObject({ headers: {} });
    const { oauth } = toServerForm(view('signed'));
    await edit(ada, 'signed', { oauth: { ...oauth, removesSecret: true } });
    expect(await stored('signed')).not.toHaveProperty('oauth.client_secret');
    await edit(ada, 'signed', { oauth: { ...oauth, clientSecret: 'typed' } });
    expect(await stored('signed')).toHaveProperty('oauth.client_secret', 'typed');
  });

  /** A socket has no requests that could carry a token: the gateway says so at the field. */
  const noSocket: Partial<Record<(typeof authKinds)[number], string>> = {
    oauth: 'websocket_oauth',
    obo: 'obo_transport',
  };

  test('every choice that is offered for a new server is accepted', async () => {
    const { parts, createPrincipal } = await createConfigureRig();
    const trusted = createPrincipal('tom', 'TRUSTED');
    for (const type of transports) {
      for (const auth of authKinds) {
        const form: ServerForm = {
          ...emptyForm,
          ...{ title: 'New', type, auth, oboScopes: 'api://a/read' },
          url: type === 'websocket' ? 'wss://new.example/mcp' : 'https://new.example/mcp',
          apiKey: { ...emptyForm.apiKey, key: 'typed' },
        };
        const created = createServer(parts, trusted, { config: toServerConfig(form, undefined) });
        const refusal = type === 'websocket' ? noSocket[auth] : undefined;
        if (refusal !== undefined) {
          await expect(created).rejects.toMatchObject({ errors: [{ code: refusal }] });
        } else await expect(created).resolves.toMatchObject({ type });
      }
    }
  });

  test('what the form locks of an OBO server is what the gateway locks', async () => {
    const { eve, edit, stored } = await createRig();
    const locked: Partial<ServerForm>[] = [
      { type: 'sse' },
      { url: 'https://evil.example/mcp' },
      { auth: 'none' },
      { auth: 'oauth' },
      { oboScopes: 'api://a/read api://b/write' },
      { replacesHeaders: true, headers: [{ id: 1, name: 'X-New', value: 'typed' }] },
    ];
    for (const patch of locked) {
      await expect(edit(eve, 'obo', patch)).rejects.toMatchObject({ code: 'MCP_OBO_FORBIDDEN' });
    }
    await expect(edit(eve, 'obo', { title: 'Free', description: 'Free' })).resolves.toMatchObject({
      version: 2,
    });
    expect(await stored('obo')).toMatchObject(definitions['obo']!);
    await expect(edit(eve, 'plain', { auth: 'obo', oboScopes: 'api://a/read' })).rejects.toMatchObject({
      code: 'MCP_OBO_FORBIDDEN',
    });
  });
});
