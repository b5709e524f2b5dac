import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@behalf/testkit';
import { testCertificate, testKey } from '../test/certificate.ts';
import { connectProxy } from '../test/proxies.ts';
import { createEgressRig, reasonOf, startHttpServer, stopServers } from '../test/rig.ts';
import { createSystemDial, systemDial, systemLocalAddresses, systemResolve } from './index.ts';

const { signal } = new AbortController();

const cleanUp: (() => void)[] = [];

afterEach(async () => {
  for (const close of cleanUp.splice(0)) close();
  await stopServers();
});

async function secureSite() {
  const names: unknown[] = [];
  const server = createServer({ key: testKey, cert: testCertificate }, (_request, response) =>
    response.end('secure'),
  );
  server.on('secureConnection', (socket) => names.push(socket.servername));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, names };
}

describe('the system parts', () => {
  test('a name is never dialled', async () => {
    await expect(
      systemDial({ address: 'localhost', port: 9, servername: 'localhost', tls: false }, signal),
    ).rejects.toThrow('Only an IP address can be dialed');
  });

  test('sockets open, fail and stop as asked', async () => {
    const port = await startHttpServer((_request, response) => response.end('ok'));
    const target = { address: '127.0.0.1', port, servername: 'x.example', tls: false };
    (await systemDial(target, signal)).destroy();
    await expect(systemDial(target, AbortSignal.abort())).rejects.toThrow('aborted');
    await stopServers();
    await expect(systemDial(target, signal)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    // A port that accepts and never speaks TLS: only the signal ends the wait.
    const silent = await startHttpServer(() => undefined);
    const controller = new AbortController();
    const waiting = systemDial({ ...target, port: silent, tls: true }, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  test('the certificate is checked for the name that was asked for', async () => {
    const site = await secureSite();
    const dns = { 'tls.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] };
    const open = { settings: { allowedAddresses: [`127.0.0.1:${site.port}`] }, dns };
    const trusting = createEgressRig({ ...open, dial: createSystemDial({ ca: testCertificate }) }).egress;
    const fetch = trusting.fetchFor({ audience: 'user-server' });
    expect(await (await fetch(`https://tls.example:${site.port}/`)).text()).toBe('secure');
    expect(await (await fetch(`https://127.0.0.1:${site.port}/`)).text()).toBe('secure');
    expect(site.names).toEqual(['tls.example', false]);
    await expect(fetch(`https://other.example:${site.port}/`)).rejects.toThrow(
      'ERR_TLS_CERT_ALTNAME_INVALID',
    );
    const wary = createEgressRig({ ...open, dial: systemDial }).egress.fetchFor({ audience: 'user-server' });
    await expect(wary(`https://tls.example:${site.port}/`)).rejects.toThrow('DEPTH_ZERO_SELF_SIGNED_CERT');
    await trusting.close();
  });

  test('through a proxy, too', async () => {
    const site = await secureSite();
    const proxy = await connectProxy(site.port);
    cleanUp.push(() => proxy.close());
    const dns = { 'tls.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] };
    const { egress } = createEgressRig({
      settings: { allowedAddresses: [`127.0.0.1:${site.port}`] },
      dns,
      dial: createSystemDial({ ca: [testCertificate] }),
    });
    const fetch = egress.fetchFor({ audience: 'user-server', proxy: `http://127.0.0.1:${proxy.port}` });
    expect(await (await fetch(`https://tls.example:${site.port}/`)).text()).toBe('secure');
    expect(site.names).toEqual(['tls.example']);
    expect(await reasonOf(fetch(`https://other.example:${site.port}/`))).toBe('certificate_untrusted');
    expect(proxy.requests.map(({ target }) => target)).toEqual([
      `127.0.0.1:${site.port}`,
      `127.0.0.1:${site.port}`,
    ]);
    await egress.close();
  });

  test('names of this machine resolve, and its addresses are known', async () => {
    expect(await systemResolve('localhost')).toEqual(
      expect.arrayContaining([expect.stringMatching(/^(127\.0\.0\.1|::1)$/)]),
    );
    await eventually('an interface', () => systemLocalAddresses().length > 0);
  });
});
