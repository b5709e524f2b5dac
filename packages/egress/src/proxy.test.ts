import { afterEach, describe, expect, test } from '@jest/globals';
import { connectProxy, socksProxy, type TestProxy } from '../test/proxies.ts';
import {
  createEgressRig,
  OTHER_PUBLIC,
  PUBLIC,
  reasonOf,
  startHttpServer,
  stopServers,
  type EgressRigOptions,
} from '../test/rig.ts';
import { EgressPolicyError } from './index.ts';
import type { Audience } from './targetCheck.ts';
import { type ProxyEnvironment, compileNoProxy, compileProxySelector } from './proxy.ts';
import { parseTarget } from './target.ts';

const proxies: TestProxy[] = [];
const dns = {
  'a.example': [PUBLIC],
  'six.example': [OTHER_PUBLIC],
  'private.example': ['10.0.0.1'],
  'in.example': ['10.0.0.2'],
  'proxy.internal': ['127.0.0.1'],
};

afterEach(async () => {
  for (const proxy of proxies.splice(0)) proxy.close();
  await stopServers();
});

async function behind(make: (upstream: number) => Promise<TestProxy>, options: EgressRigOptions = {}) {
  const upstream = await startHttpServer((request, response) =>
    response.end(`${request.headers.host ?? ''} ${request.url ?? ''}`),
  );
  const proxy = await make(upstream);
  proxies.push(proxy);
  const loopbackPorts = { [`127.0.0.1:${proxy.port}`]: proxy.port };
  return { proxy, ...createEgressRig({ dns, loopbackPorts, ...options }) };
}

describe('a proxied request', () => {
  test('the proxy is asked for the checked literal, so its DNS has no say', async () => {
    for (const make of [connectProxy, socksProxy]) {
      const { egress, proxy, dials } = await behind((port) => make(port));
      const scheme = make === socksProxy ? 'socks5' : 'http';
      const fetch = egress.fetchFor({
        audience: 'user-server',
        proxy: `${scheme}://127.0.0.1:${proxy.port}`,
      });
      expect(await (await fetch('http://a.example/x')).text()).toBe('a.example /x');
      expect(await (await fetch('http://a.example:8080/x')).text()).toBe('a.example:8080 /x');
      await (await fetch('http://six.example/')).text();
      expect(proxy.requests.map(({ target }) => target)).toEqual([
        `${PUBLIC}:80`,
        `${PUBLIC}:8080`,
        make === socksProxy ? '[26062800022000010248189325c81946]:80' : `[${OTHER_PUBLIC}]:80`,
      ]);
      expect(dials.every(({ port }) => port === proxy.port)).toBe(true);
      await egress.close();
    }
  });

  test('TLS is spoken through the tunnel with the name that was asked for', async () => {
    const { egress, proxy, dials } = await behind((port) => connectProxy(port));
    const fetch = egress.fetchFor({
      audience: 'user-server',
      proxy: `http://proxy.internal:${proxy.port}`,
    });
    await (await fetch('https://a.example/')).text();
    expect(dials).toEqual([
      { address: '127.0.0.1', port: proxy.port, servername: 'proxy.internal', tls: false },
      { address: PUBLIC, port: 443, servername: 'a.example', tls: true },
    ]);
    expect(proxy.requests).toEqual([{ target: `${PUBLIC}:443`, credentials: undefined }]);
  });

  test('names and literals are judged here before the proxy hears of them', async () => {
    const settings = { operatorAddresses: ['in.example:80', 'far.example:80'] };
    const { egress, proxy, dials } = await behind((port) => connectProxy(port), { settings });
    const options = { proxy: `http://127.0.0.1:${proxy.port}` };
    for (const audience of ['user-server', 'yaml-server'] as const) {
      const fetch = egress.fetchFor({ audience, ...options });
      expect(await reasonOf(fetch('http://private.example/'))).toBe('private_address');
      expect(await reasonOf(fetch('http://127.0.0.1/'))).toBe('private_address');
      expect(await reasonOf(fetch('http://[::ffff:a00:1]/'))).toBe('private_address');
      expect(await reasonOf(fetch('http://gone.example/'))).toBe('dns_failed');
      expect(await reasonOf(fetch('http://redis/'))).toBe('blocked_name');
    }
    const user = egress.fetchFor({ audience: 'user-server', ...options });
    expect(await reasonOf(user('http://in.example/'))).toBe('private_address');
    expect(await reasonOf(user('http://far.example/'))).toBe('dns_failed');
    expect([proxy.requests, dials]).toEqual([[], []]);
  });

  test('an opened name goes through, by address or, if only the proxy knows it, by name', async () => {
    const settings = { operatorAddresses: ['in.example:80', 'far.example:80'] };
    const { egress, proxy } = await behind((port) => connectProxy(port), { settings });
    const fetch = egress.fetchFor({ audience: 'yaml-server', proxy: `http://127.0.0.1:${proxy.port}` });
    await (await fetch('http://in.example/')).text();
    await (await fetch('http://far.example/')).text();
    expect(proxy.requests.map(({ target }) => target)).toEqual(['10.0.0.2:80', 'far.example:80']);
  });

  test('a proxy that refuses, or is not there, is an error of its own without its secrets', async () => {
    const { egress, proxy } = await behind((port) => connectProxy(port, 407));
    for (const port of [proxy.port, 9]) {
      const fetch = egress.fetchFor({
        audience: 'user-server',
        proxy: `http://user:hush@127.0.0.1:${port}`,
      });
      const error: unknown = await fetch('http://a.example/').catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason: 'proxy_refused', host: 'a.example', requestSent: false });
      expect(String(error)).not.toContain('hush');
    }
    expect(proxy.requests[0]!.credentials).toBe(`Basic ${Buffer.from('user:hush').toString('base64')}`);
  });

  test('SOCKS5 signs in, and a wrong password ends it', async () => {
    const { egress, proxy } = await behind((port) => socksProxy(port, 'p@ss'));
    const at = (password: string) =>
      egress.fetchFor({ audience: 'user-server', proxy: `socks5://u:${password}@127.0.0.1:${proxy.port}` });
    expect(await (await at('p%40ss')('http://a.example/')).text()).toBe('a.example /');
    expect(proxy.requests).toEqual([{ target: `${PUBLIC}:80`, credentials: 'u:p@ss' }]);
    expect(await reasonOf(at('wrong')('http://a.example/'))).toBe('proxy_refused');
  });

  test('a request without the proxy never rides on a tunnel through it', async () => {
    const { egress, proxy, dials } = await behind((port) => connectProxy(port));
    await (
      await egress.fetchFor({ audience: 'user-server', proxy: `http://127.0.0.1:${proxy.port}` })(
        'http://a.example/',
      )
    ).text();
    expect(await reasonOf(egress.fetchFor({ audience: 'user-server' })('http://a.example/'))).toBe(
      'connection_failed',
    );
    expect(dials.at(-1)).toMatchObject({ address: PUBLIC, port: 80 });
  });
});

describe('which proxy', () => {
  const choose = (
    env: ProxyEnvironment,
    url: string,
    configuredProxy?: string,
    audience: Audience = 'yaml-server',
  ) => {
    const proxy = compileProxySelector(env)({ audience, configuredProxy })(parseTarget(new URL(url)));
    return proxy && `${proxy.kind} ${proxy.host}:${proxy.port}`;
  };

  test("the server's own, then PROXY, then the standard variables", () => {
    const env = {
      PROXY: 'http://general:1',
      HTTPS_PROXY: 'http://secure:2',
      HTTP_PROXY: 'plain:3',
      NO_PROXY: '*',
    };
    expect(choose(env, 'https://h.example', 'socks5://own:4')).toBe('socks5 own:4');
    expect(choose(env, 'https://h.example')).toBe('http general:1');
    const standard = { HTTPS_PROXY: 'https://secure', HTTP_PROXY: 'plain:3', ALL_PROXY: 'socks://all' };
    expect(choose(standard, 'https://h.example')).toBe('https secure:443');
    expect(choose(standard, 'http://h.example')).toBe('http plain:3');
    expect(choose({ ALL_PROXY: 'socks://all' }, 'wss://h.example')).toBe('socks5 all:1080');
    expect(choose({ PROXY: ' ', HTTPS_PROXY: 'http://secure:2' }, 'https://h.example')).toBe('http secure:2');
    expect(choose({}, 'https://h.example')).toBeUndefined();
  });

  test('what is on this machine is asked directly', () => {
    const environments = [
      { PROXY: 'http://general:1' },
      { http_proxy: 'http://plain:2', https_proxy: 'http://secure:3' },
      { ALL_PROXY: 'socks://all', no_proxy: '' },
    ];
    const here = [
      ...['localhost', 'LOCALHOST.', 'a.localhost', '127.0.0.1', '127.9.9.9', '127.1', '0x7f000001'],
      ...['[::1]', '[::ffff:127.0.0.1]'],
    ];
    const otherHosts = [
      'localhost.example',
      'notlocalhost',
      '128.0.0.1',
      '10.0.0.1',
      '[::2]',
      '127.0.0.1.example',
    ];
    for (const env of environments) {
      for (const audience of ['yaml-server', 'user-server', 'identity'] as const) {
        for (const scheme of ['http', 'https', 'ws', 'wss']) {
          for (const host of here)
            expect([host, choose(env, `${scheme}://${host}:3000/`, undefined, audience)]).toEqual([
              host,
              undefined,
            ]);
          for (const host of otherHosts)
            expect([host, choose(env, `${scheme}://${host}:3000/`, undefined, audience)]).not.toEqual([
              host,
              undefined,
            ]);
        }
      }
    }
  });

  test('unless a server names its proxy itself, and never with what the gateway tells an identity provider', () => {
    const own = 'socks5://own:4';
    for (const env of [{}, { PROXY: 'http://general:1' }]) {
      for (const audience of ['yaml-server', 'user-server'] as const) {
        expect(choose(env, 'http://127.0.0.1:3000', own, audience)).toBe('socks5 own:4');
      }
      expect(choose(env, 'http://127.0.0.1:3000', own, 'identity')).toBeUndefined();
      expect(choose(env, 'https://idp.example', own, 'identity')).toBe('socks5 own:4');
    }
  });

  test('a request to this machine crosses no network', async () => {
    const { proxy, egress, dials } = await behind((port) => connectProxy(port), {
      env: { PROXY: 'http://proxy.internal:8080' },
      settings: { operatorAddresses: ['127.0.0.1:3000'], identityOrigins: ['http://127.0.0.1:3000'] },
    });
    for (const audience of ['yaml-server', 'identity'] as const) {
      const sent = egress.fetchFor({ audience })('http://127.0.0.1:3000/');
      expect(await reasonOf(sent)).toBe('connection_failed');
      expect(dials.splice(0)).toMatchObject([{ address: '127.0.0.1', port: 3000 }]);
      expect(await reasonOf(egress.fetchFor({ audience })('http://a.example/'))).toBe('proxy_refused');
      expect(dials.splice(0)).toMatchObject([{ address: '127.0.0.1', port: 8080 }]);
    }
    expect(proxy.requests).toEqual([]);
  });

  test('a lower-case variable wins, and empty it switches its upper-case twin off', () => {
    expect(choose({ https_proxy: 'http://low:1', HTTPS_PROXY: 'http://up:2' }, 'https://h.example')).toBe(
      'http low:1',
    );
    expect(choose({ https_proxy: '', HTTPS_PROXY: 'http://up:2' }, 'https://h.example')).toBeUndefined();
    const noProxy = { HTTPS_PROXY: 'http://up:2', NO_PROXY: '*' };
    expect(choose(noProxy, 'https://h.example')).toBeUndefined();
    expect(choose({ ...noProxy, no_proxy: '' }, 'https://h.example')).toBe('http up:2');
  });

  test('a malformed proxy stops the start and keeps its password to itself', () => {
    for (const text of ['ftp://u:hush@h', 'http://', 'http://u:hush@', 'http://u:%zz@h', 'http://h:99999']) {
      expect(() => createEgressRig({ env: { PROXY: text } })).toThrow(EgressPolicyError);
      expect(() => createEgressRig({ env: { HTTPS_PROXY: text } })).toThrow(/^(?!.*hush)/);
      expect(() => createEgressRig().egress.fetchFor({ audience: 'yaml-server', proxy: text })).toThrow(
        EgressPolicyError,
      );
    }
  });

  test('NO_PROXY takes names, wildcards, blocks, ranges, IPv6 and ports', () => {
    const cases: [noProxy: string, direct: string[], proxied: string[]][] = [
      ['*', ['http://any.example', 'http://10.0.0.1'], []],
      [
        'h.example',
        ['http://h.example', 'http://a.h.example', 'http://H.example.'],
        ['http://xh.example', 'http://h.example.org'],
      ],
      ['.h.example', ['http://a.h.example'], ['http://h.example']],
      ['*.h.example', ['http://a.b.h.example'], ['http://h.example', 'http://xh.example']],
      ['h.example:8080', ['http://h.example:8080'], ['http://h.example']],
      ['h.example:443', ['https://h.example'], ['http://h.example']],
      [
        '10.0.0.1',
        ['http://10.0.0.1', 'http://[::ffff:10.0.0.1]'],
        ['http://10.0.0.2', 'http://10.0.0.1.example'],
      ],
      ['10.0.0.1:80', ['http://10.0.0.1'], ['https://10.0.0.1']],
      ['10.0.0.0/8', ['http://10.255.0.1'], ['http://11.0.0.1', 'http://ten.example']],
      ['fd00::/8', ['http://[fd12::1]'], ['http://[fe80::1]', 'http://10.0.0.1']],
      ['10.0.0.5-10.0.0.9', ['http://10.0.0.5', 'http://10.0.0.9'], ['http://10.0.0.4', 'http://10.0.0.10']],
      ['fd00::1-fd00::f', ['http://[fd00::a]'], ['http://[fd00::10]']],
      ['::1', ['http://[::1]', 'http://[::1]:8080'], ['http://[::2]']],
      ['[::1]:8080', ['http://[::1]:8080'], ['http://[::1]']],
      ['a.example, b.example c.example', ['http://b.example', 'http://c.example'], ['http://d.example']],
      ['', [], ['http://h.example']],
      ['10.0.0.0/99 10.0.0.x h:p:q', [], ['http://10.0.0.1', 'http://h']],
    ];
    for (const [noProxy, direct, proxied] of cases) {
      const rule = compileNoProxy(noProxy);
      for (const url of direct)
        expect([noProxy, url, rule(parseTarget(new URL(url)))]).toEqual([noProxy, url, true]);
      for (const url of proxied)
        expect([noProxy, url, rule(parseTarget(new URL(url)))]).toEqual([noProxy, url, false]);
    }
  });
});
