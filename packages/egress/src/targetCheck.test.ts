import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { createEgressRig, OTHER_PUBLIC, PUBLIC, reasonOf } from '../test/rig.ts';
import { resolveEveryName, requestOutcome } from '../test/requestOutcome.ts';

describe('DNS', () => {
  test('a name that does not resolve, or to nothing, is refused', async () => {
    expect(await requestOutcome('https://gone.example/')).toBe('dns_failed');
    expect(await requestOutcome('https://empty.example/', { dns: { 'empty.example': [] } })).toBe(
      'dns_failed',
    );
    const opened = { settings: { allowedAddresses: ['gone.example:443'] } };
    expect(await requestOutcome('https://gone.example/', opened)).toBe('dns_failed');
  });

  test('one private address among public ones refuses the name', async () => {
    for (const addresses of [
      [PUBLIC, '10.0.0.1'],
      ['10.0.0.1', PUBLIC],
      [OTHER_PUBLIC, PUBLIC, '::1'],
    ]) {
      expect(await requestOutcome('https://mixed.example/', { dns: { 'mixed.example': addresses } })).toBe(
        'private_address',
      );
    }
  });

  test('the checked address is dialled, and DNS is asked once for it', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    const { egress, dials, resolved } = createEgressRig({
      dns: { 'rebind.example': () => answers.shift() ?? ['127.0.0.1'] },
    });
    const fetch = egress.fetchFor({ audience: 'user-server' });
    expect(await reasonOf(fetch('https://rebind.example/'))).toBe('connection_failed');
    expect(dials).toEqual([{ address: PUBLIC, port: 443, servername: 'rebind.example', tls: true }]);
    expect(resolved).toEqual(['rebind.example']);
    expect(await reasonOf(fetch('https://rebind.example/'))).toBe('private_address');
    expect(dials).toHaveLength(1);
  });

  test('judge and connect give the same verdict to other protocols', async () => {
    const { egress, dials } = createEgressRig({
      dns: { 'ws.example': [PUBLIC], 'evil.example': ['127.0.0.1'] },
    });
    expect(await egress.checkTarget('wss://ws.example/socket', 'user-server')).toMatchObject({
      host: 'ws.example',
      port: 443,
      tls: true,
      addresses: [PUBLIC],
    });
    const { signal } = new AbortController();
    for (const settings of [{}, { allowedDomains: ['evil.example'] }]) {
      const rig = createEgressRig({ settings, dns: { 'evil.example': ['127.0.0.1'] } });
      expect(await reasonOf(rig.egress.checkTarget('ws://evil.example', 'user-server'))).toBe(
        'private_address',
      );
      expect(
        await reasonOf(rig.egress.connect('ws://evil.example', { audience: 'user-server' }, signal)),
      ).toBe('private_address');
      expect(rig.dials).toEqual([]);
    }
    expect(await reasonOf(egress.connect('ws://ws.example', { audience: 'user-server' }, signal))).toBe(
      'connection_failed',
    );
    expect(dials).toEqual([{ address: PUBLIC, port: 80, servername: 'ws.example', tls: false }]);
  });
});

describe('our own endpoints', () => {
  const own = (address: string) => () => ({
    origins: ['https://gw.example'],
    listeners: [{ address, port: 3080 }],
    localAddresses: () => ['192.168.7.7', '2606:4700::77'],
  });
  const settings = {
    allowedAddresses: [
      '127.0.0.1:3080',
      '192.168.7.7:3080',
      '127.0.0.1:9000',
      'me.example:3080',
      '[::1]:3080',
    ],
  };
  const dns = { 'gw.example': [PUBLIC], 'me.example': ['127.0.0.1'], 'v6.example': ['2606:4700::77'] };

  test("a user's server cannot be our public origin", async () => {
    const options = { ownEndpoints: own('127.0.0.1'), settings, dns };
    for (const url of [
      'https://gw.example/mcp',
      'https://gw.example.:443/',
      'http://gw.example/',
      'http://gw.example:3080',
    ]) {
      expect([url, await requestOutcome(url, options)]).toEqual([url, 'gateway_address']);
      expect([url, await requestOutcome(url, options, 'yaml-server')]).toEqual([url, 'dialled']);
    }
    expect(await requestOutcome('https://gw.example:9443/', options)).toBe('dialled');
    for (const url of ['https://gw.example../', 'https://gw.example.../mcp', 'https://gw..example/'])
      expect([url, await requestOutcome(url, { ...options, dns: resolveEveryName([PUBLIC]) })]).toEqual([
        url,
        'bad_url',
      ]);
  });

  test("a user's server cannot be our listening address, under any name", async () => {
    for (const url of [
      'http://127.0.0.1:3080/',
      'http://me.example:3080/',
      'http://[::ffff:127.0.0.1]:3080/',
    ]) {
      expect([url, await requestOutcome(url, { ownEndpoints: own('127.0.0.1'), settings, dns })]).toEqual([
        url,
        'gateway_address',
      ]);
    }
    const free = { ownEndpoints: own('127.0.0.1'), settings, dns };
    expect(await requestOutcome('http://127.0.0.1:9000/', free)).toBe('dialled');
    expect(await requestOutcome('http://127.0.0.1:3080/', free, 'yaml-server')).toBe('dialled');
  });

  test('a wildcard listener owns every address of the machine', async () => {
    for (const wildcard of ['0.0.0.0', '::', 'some-name']) {
      for (const url of [
        'http://127.0.0.1:3080',
        'http://[::1]:3080',
        'http://192.168.7.7:3080',
        'http://v6.example:3080',
      ]) {
        const seen = await requestOutcome(url, { ownEndpoints: own(wildcard), settings, dns });
        expect([wildcard, url, seen]).toEqual([wildcard, url, 'gateway_address']);
      }
    }
  });
});

describe('URLs', () => {
  test('only http and https without credentials are fetched', async () => {
    const urls = [
      'ftp://h.example/',
      'file:///etc/passwd',
      'data:,x',
      'ws://h.example/',
      'no url',
      'http://',
      'blob:x',
    ];
    for (const url of [...urls, 'https://user:secret@h.example/?q=secret', 'https://user@h.example/']) {
      expect([url, await requestOutcome(url, { dns: resolveEveryName([PUBLIC]) })]).toEqual([url, 'bad_url']);
    }
  });

  test('an error names the host and nothing else of the URL', async () => {
    const { egress } = createEgressRig({ dns: resolveEveryName(['10.0.0.1']) });
    const fetch = egress.fetchFor({ audience: 'user-server' });
    const headers = { authorization: 'Bearer secret\nnot a header' };
    for (const [url, init] of [
      ['https://h.example/secret?token=secret#secret', {}],
      ['https://u:secret@h.example/', {}],
      ['https://h.example/', { headers }],
    ] as const) {
      const error = await fetch(url, init).catch((thrown: unknown) => thrown as Error);
      expect(inspect(error)).not.toContain('secret');
      expect(inspect(error)).toContain('h.example');
    }
  });
});
