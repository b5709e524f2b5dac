import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemDial, systemDial } from '@behalf/egress';
import type { RemoteTarget } from '@behalf/gateway';
import { type Fetch, createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { type Settings, loadSettings } from '@behalf/settings';
import { eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createAuthority, serveSecurely } from '../../../packages/egress/test/authority.ts';
import { type ReloadableNetwork, createNetwork } from './network.ts';

const { signal } = new AbortController();

/** `secure`, or the code that the gateway makes of the failure. */
async function outcome(door: ReloadableNetwork, work: Promise<{ text(): Promise<string> }>): Promise<string> {
  try {
    return await (await work).text();
  } catch (error) {
    return door.network.readError(error)?.code ?? String(error);
  }
}

describe('authorities of the configuration', () => {
  const cleanUp: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of cleanUp.splice(0).reverse()) await close();
  });

  /** Two sites of two authorities, whose files lie in a folder, and a door that opens to both. */
  async function begin() {
    const dir = await mkdtemp(join(tmpdir(), 'behalf-ca-'));
    cleanUp.push(() => rm(dir, { recursive: true }));
    const file = (name: string) => join(dir, name);
    const [authority, otherAuthority] = await Promise.all([createAuthority(), createAuthority('A stranger')]);
    const [site, strange] = await Promise.all(
      [authority, otherAuthority].map(async (its) => serveSecurely(await its.issue('127.0.0.1'))),
    );
    if (!site || !strange) throw new Error('no sites');
    cleanUp.push(
      () => site.close(),
      () => strange.close(),
    );
    await writeFile(file('own.pem'), authority.ca);
    await writeFile(file('other.pem'), otherAuthority.ca);
    const open = [site, strange].map(({ port }) => `127.0.0.1:${port}`);
    const settings = (yaml: { servers?: object; providers?: object } = {}): Settings => {
      const loaded = loadSettings(
        JSON.stringify({
          mcpServers: yaml.servers ?? {},
          identityProviders: yaml.providers ?? {},
          mcpSettings: { operatorAddresses: open },
        }),
        { env: {} },
      );
      if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics));
      return loaded.settings;
    };
    const url = `https://127.0.0.1:${site.port}/`;
    const start = (first: Settings, identityOrigins: string[] = [], dial = systemDial) => {
      const door = createNetwork({
        settings: first,
        env: {},
        limits: { bodyBytes: 1_000_000, sseLineBytes: 1_000_000 },
        identityOrigins,
        resolve: () => Promise.reject(new Error('not found')),
        dial,
        clock: systemClock,
        keyring: createKeyring([new Uint8Array(32).fill(7)], systemRandom),
        ownEndpoints: () => ({ origins: [], listeners: [], localAddresses: () => [] }),
      });
      cleanUp.push(() => door.close());
      return door;
    };
    const server = (caFile?: string) => ({ type: 'streamable-http', url, ...(caFile && { caFile }) });
    const target = (caFile?: string): RemoteTarget => ({
      ...{ type: 'streamable-http', url, headers: {}, audience: 'yaml-server', proxy: undefined },
      ...{ sseReadTimeoutMs: 1_000, caFile },
    });
    return { dir, file, authority, otherAuthority, site, strange, settings, url, start, server, target };
  }

  test('every way out to a server goes by its own authority', async () => {
    const { file, settings, start, server, target, url, site, authority } = await begin();
    const servers = { a: server(file('own.pem')), b: server(file('other.pem')), c: server() };
    const first = start(settings({ servers }));
    const ways = (caFile?: string, door = first) => [
      outcome(door, door.network.sendTo(target(caFile))({ method: 'GET', url, headers: {}, signal })),
      outcome(door, door.network.fetchTo(target(caFile))(url)),
      outcome(
        door,
        door.network.connectTo(target(caFile), signal).then((socket) => {
          socket.destroy();
          return { text: async () => 'secure' };
        }),
      ),
    ];
    expect(await Promise.all(ways(file('own.pem')))).toEqual(['secure', 'secure', 'secure']);
    const seen = site.requests.length;
    const refused = ['MCP_UNREACHABLE', 'MCP_UNREACHABLE', 'MCP_UNREACHABLE'];
    expect(await Promise.all(ways(file('other.pem')))).toEqual(refused);
    expect(await Promise.all(ways())).toEqual(refused);
    expect(site.requests).toHaveLength(seen);
    // One that was not read vouches for nobody, and those that count otherwise do not take its place.
    const trusting = start(settings({ servers }), [], createSystemDial({ ca: authority.ca }));
    expect(await Promise.all(ways(undefined, trusting))).toEqual(['secure', 'secure', 'secure']);
    await writeFile(file('third.pem'), authority.ca);
    expect(await Promise.all(ways(file('third.pem'), trusting))).toEqual(refused);
  });

  test('a file that has changed counts with the next reload, for whoever holds a way', async () => {
    const { file, settings, start, server, target, url, authority, otherAuthority, site } = await begin();
    const running = settings({ servers: { a: server(file('own.pem')) } });
    const door = start(running);
    const send = door.network.sendTo(target(file('own.pem')));
    const ask = () => outcome(door, send({ method: 'GET', url, headers: {}, signal }));
    expect(await ask()).toBe('secure');
    const socket = await door.network.connectTo(target(file('own.pem')), signal);
    socket.on('error', () => undefined);
    await writeFile(file('own.pem'), otherAuthority.ca);
    // Read once for each configuration, and not for each call.
    expect(await ask()).toBe('secure');
    expect(socket.destroyed).toBe(false);
    door.update(running);
    expect(await ask()).toBe('MCP_UNREACHABLE');
    await eventually('the socket that the old authority vouched for to end', () => socket.destroyed);
    await writeFile(file('own.pem'), authority.ca);
    door.update(running);
    expect(await ask()).toBe('secure');
    // Gone between the check and the reading: nobody is trusted in its place.
    await rm(file('own.pem'));
    door.update(running);
    expect(await ask()).toBe('MCP_UNREACHABLE');
    expect(site.requests).toHaveLength(3);
  });

  test('a socket that was on its way meanwhile does not outlive its authority', async () => {
    const { file, settings, start, server, target, otherAuthority } = await begin();
    const running = settings({ servers: { a: server(file('own.pem')) } });
    const door = start(running);
    await writeFile(file('own.pem'), otherAuthority.ca);
    const connecting = door.network.connectTo(target(file('own.pem')), signal);
    door.update(running);
    const error = await connecting.then(
      (socket) => void socket.destroy(),
      (thrown: unknown) => thrown,
    );
    expect(door.network.readError(error)).toMatchObject({ code: 'MCP_UNREACHABLE' });
  });

  test('files that say the same interrupt nothing', async () => {
    const { file, settings, start, server, target, url, site } = await begin();
    const servers = { a: server(file('own.pem')), b: server(file('other.pem')) };
    const door = start(settings({ servers }));
    const ask = () => outcome(door, door.network.fetchTo(target(file('own.pem')))(url));
    expect(await ask()).toBe('secure');
    await new Promise((resolve) => setImmediate(resolve));
    door.update(settings({ servers: { b: servers.b, a: servers.a } }));
    expect(await ask()).toBe('secure');
    expect(site.connections()).toBe(1);
  });

  test('each identity provider is held to its own authority', async () => {
    const { file, settings, start, url, strange } = await begin();
    const other = `https://127.0.0.1:${strange.port}/`;
    const provider = (issuer: string, caFile?: string) => ({
      ...{ type: 'jwt-bearer', issuer, clientId: 'c', clientSecret: 's' },
      ...(caFile && { caFile }),
    });
    const [own, foreign] = [provider(url, file('own.pem')), provider(other, file('other.pem'))];
    const door = start(settings({ providers: { login: own, partner: foreign } }));
    const partner = door.identityTo({ caFile: file('other.pem') });
    const bare = door.identityTo({ caFile: undefined });
    const at = (fetch: Fetch, to: string) => outcome(door, fetch(to));
    expect([await at(door.identity, url), await at(partner, other)]).toEqual(['secure', 'secure']);
    for (const [fetch, to] of [
      [door.identity, other],
      [partner, url],
      [bare, url],
      [bare, other],
    ] as const) {
      expect(await at(fetch, to)).toBe('MCP_UNREACHABLE');
    }
    // The login changes hands: what somebody already holds follows.
    door.update(settings({ providers: { login: foreign, partner: own } }));
    expect([await at(door.identity, url), await at(door.identity, other)]).toEqual([
      'MCP_UNREACHABLE',
      'secure',
    ]);
    door.update(settings({ providers: { partner: own, third: foreign } }));
    // Nobody speaks of the login any more: then the public ones count.
    expect(await at(door.identity, url)).toBe('MCP_UNREACHABLE');
    expect(await at(door.identity, other)).toBe('MCP_UNREACHABLE');
  });

  test('no redirect is followed to anybody', async () => {
    const { authority, file, settings, start } = await begin();
    const seen: string[] = [];
    const site = await serveSecurely(await authority.issue('127.0.0.1'), (request, response) => {
      seen.push(request.url ?? '');
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    cleanUp.push(() => site.close());
    const url = `https://127.0.0.1:${site.port}/token`;
    const caFile = file('own.pem');
    const provider = { type: 'jwt-bearer', tokenEndpoint: url, clientId: 'c', clientSecret: 's', caFile };
    const door = start(settings({ providers: { p: provider } }));
    const pending = door.identityTo({ caFile })(url, { method: 'POST', body: 'x' });
    await expect(pending).rejects.toMatchObject({ reason: 'redirect_refused' });
    expect(seen).toEqual(['/token']);
  });

  test('what the operator names as a provider is open to the identity client alone', async () => {
    const { settings, start, site, strange } = await begin();
    const at = ({ port }: { port: number }) => `https://127.0.0.1:${port}/`;
    const closed = { ...settings(), mcpSettings: {} } as Settings;
    const naming = (key: string, url: string): Settings => {
      const provider = { name: 'p', type: 'entra', [key]: url };
      return { ...closed, identityProviders: [provider] } as unknown as Settings;
    };
    const door = start(closed, [at(strange)]);
    const ask = (fetch: Fetch, where: { port: number }) => outcome(door, fetch(at(where)));
    const bare = door.identityTo({ caFile: undefined });
    expect(await ask(bare, site)).toBe('MCP_DOMAIN_NOT_ALLOWED');
    for (const key of ['issuer', 'authority', 'tokenEndpoint']) {
      door.update(naming(key, `${at(site)}tenant/v2.0`));
      // Past the address check: it is the certificate that is refused now.
      expect([key, await ask(bare, site)]).toEqual([key, 'MCP_UNREACHABLE']);
      expect([key, await ask(door.identity, strange)]).toEqual([key, 'MCP_UNREACHABLE']);
      const target: RemoteTarget = {
        ...{ type: 'streamable-http', url: at(site), headers: {}, proxy: undefined },
        ...{ audience: 'yaml-server', sseReadTimeoutMs: 1_000 },
      };
      expect(await ask(door.network.fetchTo(target), site)).toBe('MCP_DOMAIN_NOT_ALLOWED');
      door.update(closed);
      expect(await ask(bare, site)).toBe('MCP_DOMAIN_NOT_ALLOWED');
    }
  });
});
