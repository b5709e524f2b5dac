import { afterEach, describe, expect, test } from '@jest/globals';
import { createAuthority, serveSecurely } from '../test/authority.ts';
import { connectProxy, socksProxy } from '../test/proxies.ts';
import { createEgressRig, reasonOf } from '../test/rig.ts';
import { flushEventLoop } from '../test/sendRig.ts';
import { createSystemDial, EgressError, getEgressErrorCode, systemDial, type FetchOptions } from './index.ts';

const { signal } = new AbortController();
const dns = { 'own.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'], 'far.example': ['127.0.0.1'] };

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanUp.splice(0).reverse()) await close();
});

/** A server of a private authority, and a door out that may reach it. */
async function begin(options: { names?: string[]; answer?: Parameters<typeof serveSecurely>[1] } = {}) {
  const authority = await createAuthority();
  const otherAuthority = await createAuthority('A stranger');
  const pair = await authority.issue(...(options.names ?? ['own.example']));
  const site = await serveSecurely(pair, options.answer);
  cleanUp.push(() => site.close());
  const door = (dial = systemDial, ...open: number[]) => {
    const allowedAddresses = [site.port, ...open].map((port) => `127.0.0.1:${port}`);
    const { egress } = createEgressRig({ settings: { allowedAddresses }, dns, dial });
    cleanUp.push(() => egress.close(0));
    return egress;
  };
  const url = `https://own.example:${site.port}/`;
  return { authority, otherAuthority, site, door, url };
}

const options = (ca: string | undefined, more: Partial<FetchOptions> = {}): FetchOptions => ({
  ...{ audience: 'user-server', ca },
  ...more,
});

describe('a server with an authority of its own', () => {
  test('is reached with its authority, and with no other and none', async () => {
    const { authority, otherAuthority, site, door, url } = await begin();
    const egress = door();
    const fetch = egress.fetchFor(options(authority.ca));
    expect(await (await fetch(url)).text()).toBe('secure');
    const send = egress.sendFor(options(authority.ca));
    expect(await (await send({ method: 'GET', url, headers: {}, signal })).text()).toBe('secure');
    const seen = site.requests.length;
    for (const ca of [undefined, otherAuthority.ca, '', 'no certificate']) {
      const error: unknown = await egress
        .fetchFor(options(ca))(url)
        .catch((thrown: unknown) => thrown);
      expect([ca, error]).toEqual([ca, expect.any(EgressError)]);
      expect(error).toMatchObject({ reason: 'certificate_untrusted', requestSent: false });
      expect((error as EgressError).message).toMatch(
        /^own\.example presents a certificate .*caFile.*\([A-Z_]+\)$/,
      );
      expect(getEgressErrorCode(error as EgressError)).toBe('MCP_UNREACHABLE');
    }
    expect(site.requests).toHaveLength(seen);
  });

  test('the authorities that count otherwise do not count for it', async () => {
    const { authority, otherAuthority, door, url } = await begin();
    // Stands for the public ones, which cannot be had on loopback.
    const egress = door(createSystemDial({ ca: authority.ca }));
    expect(await (await egress.fetchFor(options(undefined))(url)).text()).toBe('secure');
    expect(await reasonOf(egress.fetchFor(options(otherAuthority.ca))(url))).toBe('certificate_untrusted');
    expect(await reasonOf(egress.fetchFor(options(''))(url))).toBe('certificate_untrusted');
  });

  test('several authorities in one text all count', async () => {
    const { authority, otherAuthority, door, url } = await begin();
    const fetch = door().fetchFor(options(`${otherAuthority.ca}\n${authority.ca}`));
    expect(await (await fetch(url)).text()).toBe('secure');
  });

  test('its certificate must still be for the name that was asked for', async () => {
    const { authority, door, site } = await begin({ names: ['own.example', '127.0.0.1'] });
    const fetch = door().fetchFor(options(authority.ca));
    expect(await (await fetch(`https://127.0.0.1:${site.port}/`)).text()).toBe('secure');
    const other = fetch(`https://other.example:${site.port}/`);
    await expect(other).rejects.toThrow('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(await reasonOf(other)).toBe('certificate_untrusted');
    expect(site.requests).toHaveLength(1);
  });

  test('a connection that one authority vouched for serves no other', async () => {
    const { authority, otherAuthority, site, door, url } = await begin();
    const egress = door();
    const ask = async (ca: string) => {
      await (await egress.fetchFor(options(ca))(url)).text();
      await flushEventLoop();
    };
    await ask(authority.ca);
    await ask(authority.ca);
    expect(site.connections()).toBe(1);
    for (const ca of [undefined, otherAuthority.ca]) {
      expect(await reasonOf(egress.fetchFor(options(ca))(url))).toBe('certificate_untrusted');
    }
    await ask(authority.ca);
    expect([site.connections(), site.requests.length]).toEqual([1, 3]);
  });

  test('through the tunnel of a proxy as well, which it does not vouch for', async () => {
    const { authority, otherAuthority, site, door, url } = await begin();
    for (const [scheme, make] of [
      ['http', connectProxy],
      ['socks5', socksProxy],
    ] as const) {
      const proxy = await make(site.port);
      cleanUp.push(() => proxy.close());
      const egress = door();
      const at = (ca: string | undefined) =>
        egress.fetchFor(options(ca, { proxy: `${scheme}://127.0.0.1:${proxy.port}` }));
      expect(await (await at(authority.ca)(url)).text()).toBe('secure');
      const seen = site.requests.length;
      for (const ca of [undefined, otherAuthority.ca]) {
        expect(await reasonOf(at(ca)(url))).toBe('certificate_untrusted');
      }
      const other = `https://other.example:${site.port}/`;
      expect(await reasonOf(at(authority.ca)(other))).toBe('certificate_untrusted');
      expect([site.requests.length, proxy.requests.length]).toEqual([seen, 4]);
    }
  });

  test('a proxy with a certificate of the same authority is refused', async () => {
    const { authority, site, door, url } = await begin({ names: ['own.example', '127.0.0.1'] });
    const egress = door();
    const fetch = egress.fetchFor(options(authority.ca, { proxy: `https://127.0.0.1:${site.port}` }));
    await expect(fetch(url)).rejects.toMatchObject({ reason: 'proxy_refused', host: 'own.example' });
    expect(site.connections()).toBe(0);
  });

  test('a socket for another protocol is held to it, too', async () => {
    const { authority, otherAuthority, site, door } = await begin();
    const egress = door();
    const url = `wss://own.example:${site.port}/`;
    const socket = await egress.connect(url, options(authority.ca), signal);
    socket.destroy();
    for (const ca of [undefined, otherAuthority.ca]) {
      expect(await reasonOf(egress.connect(url, options(ca), signal))).toBe('certificate_untrusted');
    }
  });

  test('where it redirects to must have a certificate of the same authority', async () => {
    const { authority, otherAuthority, url, site } = await begin({
      answer: (request, response) => {
        response.writeHead(307, { location: `https://far.example:${(request.url ?? '/').slice(1)}/` });
        response.end();
      },
    });
    const near = await serveSecurely(await authority.issue('far.example'));
    const far = await serveSecurely(await otherAuthority.issue('far.example'));
    cleanUp.push(
      () => near.close(),
      () => far.close(),
    );
    // No address of a redirect is exempt, so the last step is dialled by hand.
    const there = (port: number) =>
      createEgressRig({
        settings: { allowedAddresses: [`127.0.0.1:${site.port}`] },
        dns: { ...dns, 'far.example': ['93.184.216.34'] },
        dial: (target, ended) => {
          const dial = createSystemDial({ ca: [authority.ca, otherAuthority.ca] });
          const address = '127.0.0.1';
          return dial(target.port === port ? { ...target, address } : target, ended);
        },
      }).egress;
    for (const [to, outcome] of [
      [near, 'no error'],
      [far, 'certificate_untrusted'],
    ] as const) {
      const egress = there(to.port);
      cleanUp.push(() => egress.close(0));
      expect(await reasonOf(egress.fetchFor(options(authority.ca))(`${url}${to.port}`))).toBe(outcome);
    }
    expect([near.requests.length, far.requests.length]).toEqual([1, 0]);
  });
});
