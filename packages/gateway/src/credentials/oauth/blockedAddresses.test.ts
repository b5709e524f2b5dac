import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  closeSignInRigs,
  createRecordingNetwork,
  createSignInRig,
  createSignInServerRig,
  followRedirect,
  type RecordingNetwork,
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

type Scene = Awaited<ReturnType<typeof createSignInServerRig>>;

/** A server of a user, whose authorization server the operator trusts with every place there is: only the door out is left. */
const createRig = () =>
  createSignInServerRig({
    isStored: true,
    issuer: { endpointOrigins: Object.values(INSIDE) },
    resolve: (name) => names[name] ?? [],
  });

function isInside(address: string): boolean {
  return !address.startsWith('127.0.0.1:');
}

const places: Readonly<Record<string, (rig: Scene, inside: string) => Promise<void>>> = {
  async server(_, inside) {
    const network = createRecordingNetwork([], (name) => names[name] ?? []);
    const rig = createSignInRig({
      stored: { files: { type: 'streamable-http', url: `${inside}/mcp` } },
      network,
    });
    await expect(rig.startSignIn('files')).rejects.toThrow();
    expect(network.dialedAddresses.filter(isInside)).toEqual([]);
  },
  async 'server metadata'({ mcp, startSignIn }, inside) {
    mcp.guard({ access: 'anonymous', documents: 'none' });
    mcp.change({ respond: () => challenging(`${inside}/metadata`) });
    await expect(startSignIn('files')).rejects.toThrow();
  },
  async issuer({ mcp, startSignIn }, inside) {
    mcp.guard({ metadata: { authorization_servers: [inside] } });
    await expect(startSignIn('files')).rejects.toThrow();
  },
  async 'authorization endpoint'({ as, startSignIn }, inside) {
    as.change({ metadata: { authorization_endpoint: `${inside}/authorize` } });
    await expect(startSignIn('files')).rejects.toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
  },
  async 'token endpoint'({ as, startSignIn, finishSignIn }, inside) {
    as.change({ metadata: { token_endpoint: `${inside}/token` } });
    const { opened } = await startSignIn('files');
    expect(await finishSignIn(await followRedirect(opened.url))).toMatchObject({
      ok: false,
      error: 'token_exchange_failed',
    });
  },
  async 'registration endpoint'({ as, startSignIn }, inside) {
    as.change({ metadata: { registration_endpoint: `${inside}/register` } });
    await expect(startSignIn('files')).rejects.toThrow();
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
async function askServer(network: RecordingNetwork, at: string): Promise<void> {
  const rig = createSignInRig({ stored: { files: { type: 'streamable-http', url: `${at}/mcp` } }, network });
  await expect(rig.startSignIn('files')).rejects.toThrow();
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
        const made = await createRig();
        await check(made, inside);
        expect(made.network.dialedAddresses.filter(isInside)).toEqual([]);
      }
    });
  }

  test('also not by a redirect', async () => {
    const { as, startSignIn } = await createSignInServerRig({ isStored: true });
    for (const status of [301, 302, 307, 308]) {
      as.respondNext('metadata', { status, headers: { location: 'http://10.0.0.1/metadata' } });
      await expect(startSignIn('files')).rejects.toMatchObject({ problem: 'metadata_invalid' });
    }
  });

  for (const [place, check] of Object.entries(places)) {
    // Nobody but a browser goes to the authorization endpoint: where it sends that one is its own affair.
    if (place === 'authorization endpoint') continue;
    test(`also not by a redirect of its ${place}`, async () => {
      for (const to of Object.values(INSIDE)) {
        const detour = await redirecting(`${to}/`);
        const made = await createSignInServerRig({
          isStored: true,
          issuer: { endpointOrigins: [detour.url] },
          morePorts: [detour.port],
          resolve: (name) => names[name] ?? [],
        });
        const network = place === 'server' ? createRecordingNetwork([detour.port]) : made.network;
        // How each of them fails is told above. Here it counts where nobody went.
        if (place === 'server') await askServer(network, detour.url);
        else await check(made, detour.url).catch(() => undefined);
        expect([to, detour.seen.length > 0]).toEqual([to, true]);
        expect(network.dialedAddresses.filter(isInside)).toEqual([]);
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
        const made = await createSignInServerRig({
          isStored: true,
          issuer: { endpointOrigins: ['https://flip.example'] },
          resolve,
        });
        const network = place === 'server' ? createRecordingNetwork([], resolve) : made.network;
        for (let round = 0; round < 2; round += 1) {
          if (place === 'server') await askServer(network, 'https://flip.example');
          else await check(made, 'https://flip.example').catch(() => undefined);
        }
        expect(requestCount).toBeGreaterThan(0);
        expect(network.dialedAddresses.filter((address) => address.startsWith('10.'))).toEqual([]);
      }
    });
  }

  test('and not with a name that changes its mind', async () => {
    let requestCount = 0;
    const made = await createSignInServerRig({
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
    await expect(made.startSignIn('files')).rejects.toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
    expect(requestCount).toBe(2);
    expect(made.network.dialedAddresses.filter(isInside)).toEqual([]);
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
    const made = await createSignInServerRig({ morePorts: [port] });
    for (const status of [301, 302, 303, 307, 308]) {
      made.as.respondNext('token', { status, headers: { location } });
      expect(await made.signIn('files')).toMatchObject({ ok: false });
      made.as.respondNext('metadata', { status, headers: { location } });
      made.clock.advance(2 * 60 * 60 * 1000);
      await expect(made.startSignIn('files')).rejects.toMatchObject({ problem: 'metadata_invalid' });
    }
    const fresh = await createSignInServerRig({ morePorts: [port] });
    fresh.as.respondNext('register', { status: 307, headers: { location } });
    await expect(fresh.startSignIn('files')).rejects.toThrow();
    expect(seen).toEqual([]);
    thief.close();
  });

  test('also not with what is revoked, and not for keys', async () => {
    const thief = await redirecting('about:blank');
    const location = `${thief.url}/stolen`;
    for (const status of [301, 302, 303, 307, 308]) {
      const made = await createSignInServerRig({
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
    const made = await createSignInServerRig();
    made.as.respondNext('register', { status: 307, headers: { location: '/register?again' } });
    await expect(made.startSignIn('files')).rejects.toThrow();
    expect(made.as.received('register')).toHaveLength(1);
    made.as.respondNext('token', { status: 307, headers: { location: '/token?again' } });
    expect(await made.signIn('files')).toMatchObject({ ok: false });
    expect(made.as.received('token')).toHaveLength(1);
  });

  test('within its own place metadata may move', async () => {
    const made = await createSignInServerRig();
    made.as.respondNext('metadata', {
      status: 301,
      headers: { location: '/.well-known/openid-configuration' },
    });
    await made.startSignIn('files');
  });
});
