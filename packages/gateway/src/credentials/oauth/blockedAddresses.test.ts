import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeSignInRigs,
  openNetwork,
  signInRig,
  signInScene,
  visit,
  type DialledNetwork,
} from '../../../test/signInRig.ts';

afterEach(async () => {
  await closeSignInRigs();
  for (const server of closing.splice(0)) server.close();
});

/** What no server of a user may lead us to. Names lead where `resolve` below says. */
const INSIDE = {
  'a private IPv4 address': 'https://10.0.0.1',
  'the address of cloud metadata': 'https://169.254.169.254',
  'a private IPv6 address': 'https://[fd00::1]',
  'an IPv4 address within IPv6': 'https://[::ffff:10.0.0.1]',
  'a private address behind NAT64': 'https://[64:ff9b::a00:1]',
  'a name that leads inside': 'https://inside.example',
  'a name that leads in- and outside': 'https://mixed.example',
};
const names: Readonly<Record<string, readonly string[]>> = {
  'inside.example': ['10.0.0.1'],
  'mixed.example': ['93.184.216.34', '10.0.0.1'],
};

type Scene = Awaited<ReturnType<typeof signInScene>>;

/** A server of a user, whose authorization server the operator trusts with every place there is: only the door out is left. */
const scene = () =>
  signInScene({
    isStored: true,
    issuer: { endpointOrigins: Object.values(INSIDE) },
    resolve: (name) => names[name] ?? [],
  });

function isInside(address: string): boolean {
  return !address.startsWith('127.0.0.1:');
}

const places: Readonly<Record<string, (scene: Scene, inside: string) => Promise<void>>> = {
  async server(_, inside) {
    const network = openNetwork([], (name) => names[name] ?? []);
    const rig = signInRig({ stored: { files: { type: 'streamable-http', url: `${inside}/mcp` } }, network });
    await expect(rig.leave('files')).rejects.toThrow();
    expect(network.dialled.filter(isInside)).toEqual([]);
  },
  async 'server metadata'({ mcp, leave }, inside) {
    mcp.guard({ access: 'anonymous', documents: 'none' });
    mcp.change({ respond: () => challenging(`${inside}/metadata`) });
    await expect(leave('files')).rejects.toThrow();
  },
  async issuer({ mcp, leave }, inside) {
    mcp.guard({ metadata: { authorization_servers: [inside] } });
    await expect(leave('files')).rejects.toThrow();
  },
  async 'authorization endpoint'({ as, leave }, inside) {
    as.change({ metadata: { authorization_endpoint: `${inside}/authorize` } });
    await expect(leave('files')).rejects.toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
  },
  async 'token endpoint'({ as, leave, finish }, inside) {
    as.change({ metadata: { token_endpoint: `${inside}/token` } });
    const { opened } = await leave('files');
    expect(await finish(await visit(opened.url))).toMatchObject({
      ok: false,
      error: 'token_exchange_failed',
    });
  },
  async 'registration endpoint'({ as, leave }, inside) {
    as.change({ metadata: { registration_endpoint: `${inside}/register` } });
    await expect(leave('files')).rejects.toThrow();
  },
  async 'revocation endpoint'({ as, signIn, vault, keyOf }, inside) {
    as.change({ metadata: { revocation_endpoint: `${inside}/revoke` } });
    expect(await signIn('files')).toMatchObject({ ok: true });
    expect(await vault.disconnect(keyOf('files'))).toMatchObject({ revoked: 'failed' });
  },
  async 'key set'({ as, mcp, signIn, logged }, inside) {
    as.change({ metadata: { jwks_uri: `${inside}/jwks` } });
    mcp.guard({ metadata: { scopes_supported: ['openid'] } });
    expect(await signIn('files')).toMatchObject({ ok: true });
    expect(logged.map(({ event }) => event)).toContain('oauth_id_token_unverified');
  },
};

/** A user's server there. Nobody can sign in at it. */
async function askServer(network: DialledNetwork, at: string): Promise<void> {
  const rig = signInRig({ stored: { files: { type: 'streamable-http', url: `${at}/mcp` } }, network });
  await expect(rig.leave('files')).rejects.toThrow();
}

const closing: Server[] = [];

/** Sends everybody on. */
async function redirecting(location: string) {
  const seen: string[] = [];
  const server = createServer((req, res) => {
    seen.push(req.url ?? '');
    res.writeHead(307, { location }).end();
  });
  closing.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { seen, port, url: `http://127.0.0.1:${port}` };
}

function challenging(url: string) {
  return { status: 401, headers: { 'www-authenticate': `Bearer resource_metadata="${url}"` } };
}

describe('no address that a server names leads inside', () => {
  for (const [place, check] of Object.entries(places)) {
    test(`its ${place}`, async () => {
      for (const inside of Object.values(INSIDE)) {
        const made = await scene();
        await check(made, inside);
        expect(made.network.dialled.filter(isInside)).toEqual([]);
      }
    });
  }

  test('also not by a redirect', async () => {
    const { as, leave } = await signInScene({ isStored: true });
    for (const status of [301, 302, 307, 308]) {
      as.respondNext('metadata', { status, headers: { location: 'http://10.0.0.1/metadata' } });
      await expect(leave('files')).rejects.toMatchObject({ problem: 'metadata_invalid' });
    }
  });

  for (const [place, check] of Object.entries(places)) {
    // Nobody but a browser goes to the authorization endpoint: where it sends that one is its own affair.
    if (place === 'authorization endpoint') continue;
    test(`also not by a redirect of its ${place}`, async () => {
      for (const to of Object.values(INSIDE)) {
        const detour = await redirecting(`${to}/`);
        const made = await signInScene({
          isStored: true,
          issuer: { endpointOrigins: [detour.url] },
          morePorts: [detour.port],
          resolve: (name) => names[name] ?? [],
        });
        const network = place === 'server' ? openNetwork([detour.port]) : made.network;
        // How each of them fails is told above. Here it counts where nobody went.
        if (place === 'server') await askServer(network, detour.url);
        else await check(made, detour.url).catch(() => undefined);
        expect([to, detour.seen.length > 0]).toEqual([to, true]);
        expect(network.dialled.filter(isInside)).toEqual([]);
      }
    });
  }

  for (const [place, check] of Object.entries(places)) {
    test(`nor with a name that changes its mind, as its ${place}`, async () => {
      for (const first of [0, 1]) {
        let requestCount = 0;
        const resolve = (name: string) => {
          if (name !== 'flip.example') return [];
          requestCount += 1;
          return (requestCount + first) % 2 === 0 ? ['10.0.0.1'] : ['93.184.216.34'];
        };
        const made = await signInScene({
          isStored: true,
          issuer: { endpointOrigins: ['https://flip.example'] },
          resolve,
        });
        const network = place === 'server' ? openNetwork([], resolve) : made.network;
        for (let round = 0; round < 2; round += 1) {
          if (place === 'server') await askServer(network, 'https://flip.example');
          else await check(made, 'https://flip.example').catch(() => undefined);
        }
        expect(requestCount).toBeGreaterThan(0);
        expect(network.dialled.filter((address) => address.startsWith('10.'))).toEqual([]);
      }
    });
  }

  test('and not with a name that changes its mind', async () => {
    let requestCount = 0;
    const made = await signInScene({
      isStored: true,
      issuer: { endpointOrigins: ['https://rebind.example'] },
      resolve: () => {
        requestCount += 1;
        return requestCount === 1 ? ['93.184.216.34'] : ['10.0.0.1'];
      },
    });
    const at = 'https://rebind.example';
    made.as.change({
      metadata: { authorization_endpoint: `${at}/authorize`, registration_endpoint: `${at}/register` },
    });
    await expect(made.leave('files')).rejects.toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
    expect(requestCount).toBe(2);
    expect(made.network.dialled.filter(isInside)).toEqual([]);
  });

  test('where codes and secrets are sent no redirect is followed', async () => {
    const seen: string[] = [];
    const thief = createServer((req, res) => {
      seen.push(req.url ?? '');
      res.end('{}');
    });
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    const { port } = thief.address() as AddressInfo;
    const location = `http://127.0.0.1:${port}/stolen`;
    const made = await signInScene({ morePorts: [port] });
    for (const status of [301, 302, 303, 307, 308]) {
      made.as.respondNext('token', { status, headers: { location } });
      expect(await made.signIn('files')).toMatchObject({ ok: false });
      made.as.respondNext('metadata', { status, headers: { location } });
      made.clock.pass(2 * 60 * 60 * 1000);
      await expect(made.leave('files')).rejects.toMatchObject({ problem: 'metadata_invalid' });
    }
    const fresh = await signInScene({ morePorts: [port] });
    fresh.as.respondNext('register', { status: 307, headers: { location } });
    await expect(fresh.leave('files')).rejects.toThrow();
    expect(seen).toEqual([]);
    thief.close();
  });

  test('also not with what is revoked, and not for keys', async () => {
    const thief = await redirecting('about:blank');
    const location = `${thief.url}/stolen`;
    for (const status of [301, 302, 303, 307, 308]) {
      const made = await signInScene({
        morePorts: [thief.port],
        guard: { metadata: { scopes_supported: ['openid'] } },
      });
      made.as.respondNext('jwks', { status, headers: { location } });
      expect(await made.signIn('files')).toMatchObject({ ok: true });
      expect(made.logged.map(({ event }) => event)).toContain('oauth_id_token_unverified');
      made.as.respondNext('revoke', { status, headers: { location } });
      expect(await made.vault.disconnect(made.keyOf('files'))).toMatchObject({ revoked: 'failed' });
    }
    expect(thief.seen).toEqual([]);
  });

  test('not even within one place', async () => {
    const made = await signInScene();
    made.as.respondNext('register', { status: 307, headers: { location: '/register?again' } });
    await expect(made.leave('files')).rejects.toThrow();
    expect(made.as.received('register')).toHaveLength(1);
    made.as.respondNext('token', { status: 307, headers: { location: '/token?again' } });
    expect(await made.signIn('files')).toMatchObject({ ok: false });
    expect(made.as.received('token')).toHaveLength(1);
  });

  test('within its own place metadata may move', async () => {
    const made = await signInScene();
    made.as.respondNext('metadata', {
      status: 301,
      headers: { location: '/.well-known/openid-configuration' },
    });
    await made.leave('files');
  });
});
