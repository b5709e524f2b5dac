import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  createEgressRig,
  PUBLIC,
  reasonOf,
  startHttpServer,
  stopServers,
  type EgressRigOptions,
} from '../test/rig.ts';

interface Seen {
  method: string | undefined;
  host: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A loopback server behind every name: answers by path, remembers what it saw. */
async function site(answer: (path: string, host: string) => [status: number, location?: string]) {
  const seen: Seen[] = [];
  const port = await startHttpServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, host: headers.host, body });
      const [status, location] = answer(url ?? '', headers.host ?? '');
      response.writeHead(status, location === undefined ? {} : { location }).end('done');
    });
  });
  return { seen, port };
}

const dns = {
  'a.example': [PUBLIC],
  'b.example': [PUBLIC],
  'private.example': ['10.0.0.1'],
  'in.example': ['10.0.0.2'],
  'login.example': ['10.0.0.3'],
};

afterEach(stopServers);

describe('redirects', () => {
  test('307 and 308 keep method and body', async () => {
    for (const status of [307, 308]) {
      const { seen, port } = await site((path) => (path === '/end' ? [200] : [status, '/end']));
      const { egress } = createEgressRig({ dns, loopbackPorts: port });
      const fetch = egress.fetchFor({ audience: 'user-server' });
      const response = await fetch('https://a.example/start', { method: 'POST', body: '{"a":1}' });
      expect([response.status, response.redirected, response.url]).toEqual([
        200,
        true,
        'https://a.example/end',
      ]);
      expect(await response.text()).toBe('done');
      expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
        ['POST', '/start', '{"a":1}'],
        ['POST', '/end', '{"a":1}'],
      ]);
      await egress.close();
    }
  });

  test('301, 302 and 303 are returned and not followed', async () => {
    for (const status of [301, 302, 303]) {
      const { seen, port } = await site(() => [status, 'https://b.example/']);
      const { egress } = createEgressRig({ dns, loopbackPorts: port });
      const response = await egress.fetchFor({ audience: 'user-server' })('https://a.example/', {
        method: 'POST',
      });
      expect([response.status, response.headers.get('location')]).toEqual([status, 'https://b.example/']);
      expect(seen).toHaveLength(1);
      await response.body?.cancel();
      await egress.close();
    }
  });

  test('five are followed, the sixth fails', async () => {
    const { seen, port } = await site((path) => {
      const left = Number(path.slice(1));
      return left === 0 ? [200] : [307, `/${left - 1}`];
    });
    const { egress } = createEgressRig({ dns, loopbackPorts: port });
    const fetch = egress.fetchFor({ audience: 'user-server' });
    expect((await fetch('http://a.example/5')).status).toBe(200);
    expect(seen).toHaveLength(6);
    expect(await reasonOf(fetch('http://a.example/6'))).toBe('too_many_redirects');
    expect(seen).toHaveLength(12);
  });

  test('each hop is judged as if it had been asked for', async () => {
    const targets: [location: string, reason: string, options?: EgressRigOptions][] = [
      ['http://127.0.0.1:9/', 'private_address'],
      ['http://private.example/', 'private_address'],
      ['http://localhost/', 'blocked_name'],
      ['http://gone.example/', 'dns_failed'],
      ['https://b.example/', 'domain_not_allowed', { settings: { allowedDomains: ['a.example'] } }],
      ['https://u:p@b.example/', 'bad_url'],
      ['ftp://b.example/', 'bad_url'],
      ['http://', 'bad_url'],
    ];
    for (const [location, reason, options] of targets) {
      const { seen, port } = await site(() => [307, location]);
      const { egress, dials } = createEgressRig({ dns, loopbackPorts: port, ...options });
      const fetch = egress.fetchFor({ audience: 'yaml-server' });
      expect([location, await reasonOf(fetch('https://a.example/'))]).toEqual([location, reason]);
      expect([seen.length, dials.length]).toEqual([1, 1]);
      await egress.close();
    }
  });

  test('a name is looked up anew: public first, private on the second hop', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    const { seen, port } = await site(() => [307, 'http://flip.example/x']);
    const { egress, dials } = createEgressRig({
      dns: { 'flip.example': () => answers.shift() ?? ['127.0.0.1'] },
      loopbackPorts: port,
    });
    const reason = await reasonOf(egress.fetchFor({ audience: 'user-server' })('https://flip.example/'));
    expect(reason).toBe('private_address');
    expect([seen.length, dials.length]).toEqual([1, 1]);
  });

  test("a user's server cannot redirect us to ourselves", async () => {
    const { port } = await site(() => [307, 'https://b.example/mcp']);
    const { egress, dials } = createEgressRig({
      dns,
      loopbackPorts: port,
      ownEndpoints: () => ({ origins: ['https://b.example'], listeners: [], localAddresses: () => [] }),
    });
    expect(await reasonOf(egress.fetchFor({ audience: 'user-server' })('https://a.example/'))).toBe(
      'gateway_address',
    );
    expect(dials).toHaveLength(1);
  });

  const secrets = {
    authorization: 'Bearer secret',
    cookie: 'sid=secret',
    'mcp-session-id': 'secret',
    'x-configured': 'secret',
    'X-Per-Call': 'secret',
    'last-event-id': 'secret',
  };
  const plain = {
    accept: 'application/json',
    'content-type': 'application/json',
    'mcp-protocol-version': '2025-11-25',
  };

  test('another origin sees no credential and no configured header', async () => {
    const others = ['https://b.example/end', 'http://a.example/end', 'https://a.example:8443/end'];
    for (const location of others) {
      const { seen, port } = await site((path) => (path === '/end' ? [200] : [308, location]));
      const { egress } = createEgressRig({ dns, loopbackPorts: port });
      const fetch = egress.fetchFor({ audience: 'user-server' });
      await (
        await fetch('https://a.example/', { method: 'POST', body: '{}', headers: { ...secrets, ...plain } })
      ).text();
      expect(JSON.stringify(seen[0]!.headers)).toContain('secret');
      expect(JSON.stringify(seen[1]!.headers)).not.toContain('secret');
      expect(seen[1]!.headers).toMatchObject(plain);
      expect(seen[1]!.headers['x-behalf-hop']).toBeDefined();
      await egress.close();
    }
  });

  test('a detour over another origin does not bring them back', async () => {
    const { seen, port } = await site((path) => {
      if (path === '/end') return [200];
      return path === '/' ? [307, 'https://b.example/back'] : [307, 'https://a.example/end'];
    });
    const { egress } = createEgressRig({ dns, loopbackPorts: port });
    await (
      await egress.fetchFor({ audience: 'user-server' })('https://a.example/', { headers: secrets })
    ).text();
    expect(seen.map(({ host, url }) => [host, url])).toEqual([
      ['a.example', '/'],
      ['b.example', '/back'],
      ['a.example', '/end'],
    ]);
    expect(JSON.stringify(seen[2]!.headers)).not.toContain('secret');
  });

  test('the same origin, also with its default port written out, keeps headers', async () => {
    for (const location of ['/end', 'https://a.example:443/end', 'https://A.example/end']) {
      const { seen, port } = await site((path) => (path === '/end' ? [200] : [307, location]));
      const { egress } = createEgressRig({ dns, loopbackPorts: port });
      await (
        await egress.fetchFor({ audience: 'user-server' })('https://a.example/', { headers: secrets })
      ).text();
      expect(seen[1]!.headers).toMatchObject({ authorization: 'Bearer secret', 'x-per-call': 'secret' });
      await egress.close();
    }
  });

  test('the same origin keeps the exemption', async () => {
    const { port } = await site((path) => (path === '/mcp/' ? [200] : [307, '/mcp/']));
    const { egress } = createEgressRig({
      dns,
      loopbackPorts: port,
      settings: { operatorAddresses: ['in.example:80'] },
    });
    const response = await egress.fetchFor({ audience: 'yaml-server' })('http://in.example/mcp');
    expect(response.status).toBe(200);
  });

  test('a redirect from elsewhere opens no private space, whoever may ask for it', async () => {
    const settings = {
      operatorAddresses: ['in.example:80', '10.0.0.1:80'],
      allowedAddresses: ['10.0.0.4:80', 'redis:80'],
      identityOrigins: ['http://login.example'],
    };
    const cases = [
      ['yaml-server', 'http://in.example/'],
      ['yaml-server', 'http://private.example/'],
      ['user-server', 'http://10.0.0.4/'],
      ['identity', 'http://login.example/'],
    ] as const;
    for (const [audience, location] of cases) {
      const { seen, port } = await site((_path, host) => (host === 'a.example' ? [307, location] : [200]));
      const { egress } = createEgressRig({ dns, loopbackPorts: port, settings });
      const fetch = egress.fetchFor({ audience });
      // The kept connection of a direct request must not be a way in, either.
      expect((await (await fetch(location)).text()).length).toBeGreaterThan(0);
      expect([location, await reasonOf(fetch('https://a.example/'))]).toEqual([location, 'private_address']);
      expect(seen.map(({ host }) => host)).toEqual([new URL(location).host, 'a.example']);
      await egress.close();
    }
  });

  test('where redirects are refused, every one of them is an error', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { seen, port } = await site(() => [status, '/elsewhere']);
      const { egress } = createEgressRig({ dns, loopbackPorts: port });
      const strict = egress.fetchFor({ audience: 'identity', redirects: 'refuse' });
      expect(await reasonOf(strict('https://a.example/token', { method: 'POST', body: 'code=1' }))).toBe(
        'redirect_refused',
      );
      expect(await reasonOf(strict('https://a.example/token', { redirect: 'follow' }))).toBe(
        'redirect_refused',
      );
      const fetch = egress.fetchFor({ audience: 'identity' });
      expect(await reasonOf(fetch('https://a.example/', { redirect: 'error' }))).toBe('redirect_refused');
      const manual = await fetch('https://a.example/', { redirect: 'manual' });
      expect([manual.status, manual.redirected]).toEqual([status, false]);
      await manual.text();
      expect(seen).toHaveLength(4);
      await egress.close();
    }
  });
});
