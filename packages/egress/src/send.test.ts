import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { SendResponse, SendRequest } from '@behalf/kernel';
import { eventually } from '@behalf/testkit';
import {
  createEgressRig,
  PUBLIC,
  reasonOf,
  startHttpServer,
  stopServers,
  type EgressRigOptions,
} from '../test/rig.ts';
import { HOP_HEADER, type FetchOptions } from './index.ts';

const dns = {
  'a.example': [PUBLIC],
  'b.example': [PUBLIC],
  'in.example': ['10.0.0.2'],
  'private.example': ['10.0.0.1'],
};

interface Seen {
  line: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A loopback server behind every name: answers by path and host, remembers what it saw. */
async function site(answer: (response: ServerResponse, path: string, host: string) => void) {
  const seen: Seen[] = [];
  const port = await startHttpServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      seen.push({ line: `${method} ${headers.host} ${url}`, headers, body });
      answer(response, url ?? '', headers.host ?? '');
    });
  });
  return { seen, port };
}

/** Sends over a rig of its own. */
async function open(
  answer: (response: ServerResponse, path: string, host: string) => void = (response) => response.end('ok'),
  { rig = {}, ...options }: Partial<FetchOptions> & { rig?: EgressRigOptions } = {},
) {
  const { seen, port } = await site(answer);
  const made = createEgressRig({ dns, loopbackPorts: port, ...rig });
  const send = made.egress.sendFor({ audience: 'user-server', ...options });
  const ask = (url: string, request: Partial<SendRequest> = {}): Promise<SendResponse> =>
    send({ method: 'POST', url, headers: {}, body: '{}', signal: new AbortController().signal, ...request });
  return { seen, ask, ...made };
}

/** The client takes its socket back one turn of the event loop after the answer. */
const settle = async () => {
  for (let i = 0; i < 2; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

afterEach(stopServers);

describe('a request that is sent', () => {
  test('method, path, headers and body arrive; the answer comes back', async () => {
    const { ask, seen } = await open((response) => {
      response.writeHead(
        201,
        [
          ['content-type', 'application/json'],
          ['x-two', 'a'],
          ['x-two', 'b'],
        ].flat(),
      );
      response.write(Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0xc3]));
      setImmediate(() => response.end(Buffer.from([0xbc, 0x7d])));
    });
    const reply = await ask('http://a.example/p%20q?x=1#f', {
      headers: { 'x-a': '1', 'content-type': 'application/json' },
      body: '{"a":"ü"}',
    });
    expect([reply.status, reply.isEventStream]).toEqual([201, false]);
    expect(['content-type', 'x-two', 'x-none', 'constructor'].map((name) => reply.header(name))).toEqual([
      'application/json',
      'a, b',
      undefined,
      undefined,
    ]);
    expect(await reply.text()).toBe('{ü}');
    expect(seen[0]).toMatchObject({
      line: 'POST a.example /p%20q?x=1',
      headers: { 'x-a': '1', 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body: '{"a":"ü"}',
    });
    await (await ask('http://a.example/', { method: 'DELETE', body: undefined as never })).text();
    expect(seen[1]).toMatchObject({ line: 'DELETE a.example /', body: '' });
  });

  test('a body is read once', async () => {
    const { ask } = await open();
    const reply = await ask('http://a.example/');
    expect(await reply.text()).toBe('ok');
    await expect(reply.text()).rejects.toThrow(TypeError);
    expect(() => reply.chunks()).toThrow(TypeError);
    expect(() => reply.discard()).toThrow(TypeError);
  });

  test('an answer without a body reads as empty', async () => {
    const { ask } = await open((response, path) => response.writeHead(Number(path.slice(1))).end());
    for (const status of [204, 205, 304]) {
      expect(await (await ask(`http://a.example/${status}`)).text()).toBe('');
      for await (const _ of (await ask(`http://a.example/${status}`)).chunks()) throw new Error('a chunk');
    }
  });

  test('the door is the same: nothing private is dialled', async () => {
    const refused: [url: string, reason: string, rig?: EgressRigOptions][] = [
      ['http://127.0.0.1:1/', 'private_address'],
      ['http://private.example/', 'private_address'],
      ['http://in.example/', 'private_address', { settings: { operatorAddresses: ['in.example:80'] } }],
      ['http://localhost/', 'blocked_name'],
      ['http://gone.example/', 'dns_failed'],
      ['http://b.example/', 'domain_not_allowed', { settings: { allowedDomains: ['a.example'] } }],
      ['ftp://a.example/', 'bad_url'],
      ['wss://a.example/', 'bad_url'],
      ['http://user:secret@a.example/', 'bad_url'],
      ['not a url', 'bad_url'],
    ];
    for (const [url, reason, rig] of refused) {
      const { ask, dials, seen } = await open(undefined, rig ? { rig } : {});
      // Twice: what was refused is not remembered as good.
      for (let i = 0; i < 2; i += 1) expect([url, await reasonOf(ask(url))]).toEqual([url, reason]);
      expect([dials, seen]).toEqual([[], []]);
    }
    const settings = { operatorAddresses: ['in.example:80'] };
    const trusted = await open(undefined, { audience: 'yaml-server', rig: { settings } });
    expect(await (await trusted.ask('http://in.example/')).text()).toBe('ok');
  });

  test('a URL that was read before is judged at each new connection', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    const { ask, dials } = await open((response) => response.setHeader('connection', 'close').end('ok'), {
      rig: { dns: { 'flip.example': () => answers.shift() ?? [] } },
    });
    expect(await (await ask('http://flip.example/')).text()).toBe('ok');
    await settle();
    expect(await reasonOf(ask('http://flip.example/'))).toBe('private_address');
    expect(dials).toHaveLength(1);
  });

  test("a socket that the operator's word opened carries nobody else", async () => {
    const { port } = await site((response) => response.end('ok'));
    const { egress, dials } = createEgressRig({
      dns,
      loopbackPorts: port,
      settings: { operatorAddresses: ['in.example:80'] },
    });
    const request = {
      method: 'POST',
      url: 'http://in.example/',
      headers: {},
      signal: new AbortController().signal,
    } as const;
    await (await egress.sendFor({ audience: 'yaml-server' })(request)).text();
    await settle();
    expect(await reasonOf(egress.sendFor({ audience: 'user-server' })(request))).toBe('private_address');
    await (await egress.sendFor({ audience: 'yaml-server' })(request)).text();
    expect(dials).toHaveLength(1);
  });

  test('no caller sets a header of the connection, in any spelling', async () => {
    const { ask, seen } = await open();
    const headers = {
      host: 'internal.example',
      Host: 'internal.example',
      connection: 'close',
      'content-length': '1',
      'Transfer-Encoding': 'chunked',
      'proxy-authorization': 'Basic x',
      te: 'trailers',
      expect: '100-continue',
      'accept-encoding': 'gzip',
      upgrade: 'websocket',
    };
    await (await ask('http://a.example/', { headers, body: 'abc' })).text();
    const [{ headers: got, body }] = seen as [Seen];
    expect([got.host, got['content-length'], got['accept-encoding'], body]).toEqual([
      'a.example',
      '3',
      'identity',
      'abc',
    ]);
    expect(got.connection).toBe('keep-alive');
    for (const name of ['upgrade', 'transfer-encoding', 'proxy-authorization', 'te', 'expect']) {
      expect([name, got[name]]).toEqual([name, undefined]);
    }
  });

  test('a value that breaks out of its line is refused unsent', async () => {
    const { ask, seen } = await open();
    const bad: Record<string, string>[] = [
      { 'x-a': 'secret\r\nx-b: 1' },
      { 'x-a': 'secret\n' },
      { 'x-a': 'secret\r' },
      { 'x-a': 'secret\0' },
      { 'x-a': 'secret\u2028' },
      { 'x a': 'secret' },
      { 'x-a\r\nx-b': 'secret' },
      { '': 'secret' },
    ];
    for (const headers of bad) {
      const error: unknown = await ask('http://a.example/', { headers }).catch((thrown: unknown) => thrown);
      expect([headers, error]).toEqual([
        headers,
        expect.objectContaining({ reason: 'bad_request', requestSent: false }),
      ]);
      expect(String(error)).not.toContain('secret');
    }
    expect(seen).toEqual([]);
    expect(await (await ask('http://a.example/')).text()).toBe('ok');
  });

  test('the hop header is counted up, replaced, and ends at the limit', async () => {
    const { ask, seen, egress } = await open();
    let headers: Record<string, string> = {};
    for (const count of [1, 2]) {
      await (await ask('http://a.example/', { headers })).text();
      const value = seen.at(-1)!.headers[HOP_HEADER] as string;
      expect(egress.readHopCount(value)).toBe(count);
      headers = { [HOP_HEADER]: value };
    }
    expect(await reasonOf(ask('http://a.example/', { headers }))).toBe('hop_limit');
    expect(seen).toHaveLength(2);
    const late = await open(undefined, { hop: 2 });
    expect(await reasonOf(late.ask('http://a.example/'))).toBe('hop_limit');
  });
});

describe('a redirect of what was sent', () => {
  const secrets = { authorization: 'Bearer secret', 'mcp-session-id': 'secret', 'x-configured': 'secret' };
  const to =
    (location: string, status = 307) =>
    (response: ServerResponse, path: string) =>
      path === '/end' ? response.end('ok') : response.writeHead(status, { location }).end('moved');

  test('307 and 308 keep method and body, the others come back', async () => {
    for (const status of [307, 308]) {
      const { ask, seen } = await open(to('/end', status));
      const reply = await ask('http://a.example/start', { headers: secrets, body: '{"a":1}' });
      expect(await reply.text()).toBe('ok');
      expect(seen[1]).toMatchObject({ line: 'POST a.example /end', body: '{"a":1}', headers: secrets });
    }
    for (const status of [301, 302, 303]) {
      const { ask, seen } = await open(to('/end', status));
      const reply = await ask('http://a.example/start');
      expect([reply.status, await reply.text(), seen.length]).toEqual([status, 'moved', 1]);
    }
  });

  test('another origin sees no credential, for good', async () => {
    const { ask, seen } = await open((response, path, host) => {
      if (path === '/end') response.end('ok');
      else if (host === 'a.example') response.writeHead(307, { location: 'http://b.example/back' }).end();
      else response.writeHead(307, { location: 'http://a.example/end' }).end();
    });
    await (await ask('http://a.example/', { headers: { ...secrets, accept: 'application/json' } })).text();
    expect(seen.map(({ line }) => line)).toEqual([
      'POST a.example /',
      'POST b.example /back',
      'POST a.example /end',
    ]);
    for (const { headers } of seen.slice(1)) {
      expect(JSON.stringify(headers)).not.toContain('secret');
      expect(headers.accept).toBe('application/json');
      expect(headers[HOP_HEADER]).toBeDefined();
    }
  });

  test('each hop is judged, without the exemptions of the first', async () => {
    const settings = { operatorAddresses: ['in.example:80'] };
    for (const [location, reason] of [
      ['http://169.254.169.254/latest', 'private_address'],
      ['http://in.example/', 'private_address'],
      ['http://localhost/', 'blocked_name'],
      ['ftp://b.example/', 'bad_url'],
    ] as const) {
      const { ask, dials } = await open(to(location), { audience: 'yaml-server', rig: { settings } });
      expect([location, await reasonOf(ask('http://a.example/'))]).toEqual([location, reason]);
      expect(dials).toHaveLength(1);
    }
  });

  test('five are followed; where they are refused, none', async () => {
    const { ask, seen } = await open((response, path) =>
      response.writeHead(307, { location: `${path}x` }).end('x'.repeat(20_000)),
    );
    expect(await reasonOf(ask('http://a.example/'))).toBe('too_many_redirects');
    expect(seen).toHaveLength(6);
    const strict = await open(to('/end'), { redirects: 'refuse' });
    expect(await reasonOf(strict.ask('http://a.example/'))).toBe('redirect_refused');
    expect(strict.seen).toHaveLength(1);
  });

  test('an abort while the redirect is on its way ends it', async () => {
    const mine = new Error('mine');
    const controller = new AbortController();
    const { ask, seen } = await open((response) =>
      response.writeHead(307, { location: '/end' }).write('half'),
    );
    const sent = ask('http://a.example/', { signal: controller.signal });
    await eventually('it was asked', () => seen.length === 1);
    await settle();
    controller.abort(mine);
    await expect(sent).rejects.toBe(mine);
    expect(seen).toHaveLength(1);
  });
});
