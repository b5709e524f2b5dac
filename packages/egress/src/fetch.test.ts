import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createFakeClock, eventually } from '@behalf/testkit';
import {
  createEgressRig,
  connectLoopback,
  PUBLIC,
  reasonOf,
  startHttpServer,
  stopServers,
  testKeyring,
  type EgressRigOptions,
} from '../test/rig.ts';
import { EgressError, getEgressErrorCode, egressReasons, HOP_HEADER } from './index.ts';

const dns = { 'a.example': [PUBLIC], 'in.example': ['10.0.0.2'] };

/** A server that answers `ok` and remembers the requests. */
async function echo() {
  const seen: {
    method: string | undefined;
    url: string | undefined;
    headers: IncomingHttpHeaders;
    body: string;
  }[] = [];
  const port = await startHttpServer((request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      response.end('ok');
    });
  });
  return { seen, port };
}

afterEach(stopServers);

describe('fetch', () => {
  test('method, path, query, headers and every kind of body arrive', async () => {
    const { seen, port } = await echo();
    const { egress } = createEgressRig({ dns, loopbackPorts: port });
    const fetch = egress.fetchFor({ audience: 'user-server' });
    const bodies: [RequestInit['body'], body: string, type: string | undefined][] = [
      ['text', 'text', 'text/plain;charset=UTF-8'],
      [new URLSearchParams({ a: 'b c' }), 'a=b+c', 'application/x-www-form-urlencoded;charset=UTF-8'],
      [new TextEncoder().encode('bytes'), 'bytes', undefined],
      [new Blob(['blob'], { type: 'text/x' }), 'blob', 'text/x'],
    ];
    for (const [body, text, type] of bodies) {
      await (
        await fetch('http://a.example/p%20q?x=1#fragment', { method: 'put', body: body ?? null })
      ).text();
      const last = seen.at(-1)!;
      expect([last.method, last.url, last.body, last.headers['content-type']]).toEqual([
        'PUT',
        '/p%20q?x=1',
        text,
        type,
      ]);
    }
    for (const headers of [
      new Headers({ 'X-A': '1' }),
      { 'X-A': '1' },
      [['X-A', '1']] as [string, string][],
    ]) {
      await (await fetch(new URL('http://a.example/'), { headers })).text();
      expect(seen.at(-1)!.headers['x-a']).toBe('1');
    }
  });

  test('headers of the connection are ours: no caller chooses another host', async () => {
    const { seen, port } = await echo();
    const { egress } = createEgressRig({ dns, loopbackPorts: port });
    const headers = {
      host: 'internal.example',
      connection: 'upgrade',
      upgrade: 'websocket',
      'content-length': '1',
      'transfer-encoding': 'chunked',
      'proxy-authorization': 'Basic x',
      te: 'trailers',
      expect: '100-continue',
      'accept-encoding': 'gzip',
    };
    const fetch = egress.fetchFor({ audience: 'user-server' });
    await (await fetch('http://a.example/', { method: 'POST', headers, body: 'abc' })).text();
    const last = seen.at(-1)!;
    expect([last.headers.host, last.headers['content-length'], last.body]).toEqual(['a.example', '3', 'abc']);
    expect(last.headers['accept-encoding']).toBe('identity');
    for (const name of ['upgrade', 'transfer-encoding', 'proxy-authorization', 'te', 'expect']) {
      expect([name, last.headers[name]]).toEqual([name, undefined]);
    }
  });

  test('the answer is a Response: status, headers, body by every method', async () => {
    const port = await startHttpServer((request, response) => {
      const status = Number(request.url?.slice(1));
      response.writeHead(
        status,
        [
          ['content-type', 'application/json'],
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ].flat(),
      );
      response.end(status === 204 || status === 304 ? undefined : '\uFEFF{"a":"ü"}');
    });
    const { egress } = createEgressRig({ dns, loopbackPorts: port });
    const fetch = egress.fetchFor({ audience: 'user-server' });
    const get = (status: number) => fetch(`http://a.example/${status}`);

    const response = await get(201);
    expect([response.ok, response.status, response.statusText, response.url]).toEqual([
      true,
      201,
      'Created',
      'http://a.example/201',
    ]);
    expect([response.headers.get('content-type'), response.headers.getSetCookie()]).toEqual([
      'application/json',
      ['a=1', 'b=2'],
    ]);
    expect(Object.prototype.toString.call(response)).toBe('[object Response]');
    const copy = response.clone();
    expect([await response.json(), await copy.json()]).toEqual([{ a: 'ü' }, { a: 'ü' }]);
    expect(response.bodyUsed).toBe(true);
    await expect(response.text()).rejects.toThrow(TypeError);

    expect((await get(404)).ok).toBe(false);
    expect((await (await get(200)).arrayBuffer()).byteLength).toBe(13);
    expect((await (await get(200)).blob()).type).toBe('application/json');
    expect(await new Response((await get(200)).body).json()).toEqual({ a: 'ü' });
    for (const status of [204, 304]) {
      const empty = await get(status);
      expect([empty.status, empty.body, await empty.text()]).toEqual([status, null, '']);
    }
    const head = await fetch('http://a.example/200', { method: 'HEAD' });
    expect([head.body, await head.text()]).toEqual([null, '']);
  });

  test('a connection that breaks is one typed error, before and in the middle of an answer', async () => {
    const port = await startHttpServer((request, response) => {
      if (request.url === '/before') request.socket.destroy();
      else response.write('half', () => request.socket.destroy());
    });
    const { egress } = createEgressRig({ dns, loopbackPorts: port });
    const fetch = egress.fetchFor({ audience: 'user-server' });
    const before: unknown = await fetch('http://a.example/before').catch((error: unknown) => error);
    expect(before).toMatchObject({ reason: 'connection_failed', requestSent: true });
    expect(await reasonOf((await fetch('http://a.example/half')).text())).toBe('connection_failed');
    const refused: unknown = await createEgressRig({ dns })
      .egress.fetchFor({ audience: 'user-server' })('http://a.example/')
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ reason: 'connection_failed', requestSent: false });
  });

  test('each reason maps to one code that callers know', () => {
    const codes = new Set(egressReasons.map((reason) => getEgressErrorCode(new EgressError(reason, 'h'))));
    expect([...codes].sort()).toEqual([
      'MCP_DOMAIN_NOT_ALLOWED',
      'MCP_PROTOCOL_ERROR',
      'MCP_RESPONSE_TOO_LARGE',
      'MCP_TIMEOUT',
      'MCP_UNREACHABLE',
    ]);
    expect(getEgressErrorCode(new EgressError('private_address', 'h'))).toBe('MCP_DOMAIN_NOT_ALLOWED');
  });
});

describe('hops', () => {
  test('two hops pass, the third is refused and nothing is sent', async () => {
    const { seen, port } = await echo();
    const { egress } = createEgressRig({ dns, loopbackPorts: port });
    let value: string | undefined;
    for (const count of [1, 2]) {
      const fetch = egress.fetchFor({ audience: 'user-server', hop: egress.readHopCount(value) });
      await (await fetch('http://a.example/')).text();
      value = seen.at(-1)!.headers[HOP_HEADER] as string;
      expect(egress.readHopCount(value)).toBe(count);
    }
    const third = egress.fetchFor({ audience: 'user-server', hop: egress.readHopCount(value) });
    expect(await reasonOf(third('http://a.example/'))).toBe('hop_limit');
    // The same over a shared connection, where the inbound header travels with the call.
    const shared = egress.fetchFor({ audience: 'yaml-server' });
    expect(await reasonOf(shared('http://a.example/', { headers: { [HOP_HEADER]: value! } }))).toBe(
      'hop_limit',
    );
    expect(seen).toHaveLength(2);
  });

  test('replicas believe the seal: the clear number cannot lower it', () => {
    const replica = createEgressRig({ keyring: testKeyring() }).egress;
    const written = hopHeader(2);
    expect(written.startsWith('2;')).toBe(true);
    expect(replica.readHopCount(`1${written.slice(1)}`)).toBe(2);
    expect(replica.readHopCount(`0${written.slice(1)}`)).toBe(2);
  });

  test('a loop over gateways with other keys ends, too', () => {
    const foreign = createEgressRig({ keyring: testKeyring(9) }).egress;
    expect(foreign.readHopCount(hopHeader(1))).toBe(1);
    expect(foreign.readHopCount(hopHeader(2))).toBe(2);
    expect(foreign.readHopCount(`0${hopHeader(1).slice(1)}`)).toBe(1);
  });

  test('no header is no hop; one that makes no sense counts as the limit', () => {
    const { egress } = createEgressRig();
    for (const none of [undefined, null, []]) expect(egress.readHopCount(none)).toBe(0);
    for (const value of [
      '',
      '0',
      '1',
      '-1;x',
      '1;',
      '1;a b',
      `${hopHeader(1)}, ${hopHeader(1)}`,
      [hopHeader(1)],
    ]) {
      expect([value, egress.readHopCount(value)]).toEqual([value, 2]);
    }
  });

  function hopHeader(count: number): string {
    const keyring = testKeyring();
    return `${count};${keyring.seal(String(count), { tenant: '-', principal: '-', server: '-', kind: 'hop', field: 'count' })}`;
  }
});

describe('kept connections', () => {
  /** Reads an answer and lets the client take its socket back, which it does one turn of the event loop later. */
  const read = async (answer: Promise<Response>) => {
    const text = await (await answer).text();
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    return text;
  };

  const rig = async (options: EgressRigOptions = {}) => {
    const { seen, port } = await echo();
    return { seen, ...createEgressRig({ dns, loopbackPorts: port, ...options }) };
  };

  test('a second request of the same audience rides on the first connection', async () => {
    const { egress, dials, resolved } = await rig();
    for (let i = 0; i < 5; i += 1) {
      await read(egress.fetchFor({ audience: 'user-server' })('http://a.example/'));
    }
    expect([dials.length, resolved.length]).toEqual([1, 1]);
  });

  test("a user's server never rides on a socket that the operator's word opened", async () => {
    const { egress, seen, dials } = await rig({
      settings: { operatorAddresses: ['in.example:80'], identityOrigins: ['http://in.example'] },
    });
    for (const audience of ['yaml-server', 'identity'] as const) {
      await read(egress.fetchFor({ audience })('http://in.example/'));
    }
    expect(await reasonOf(egress.fetchFor({ audience: 'user-server' })('http://in.example/'))).toBe(
      'private_address',
    );
    expect([seen.length, dials.length]).toEqual([2, 2]);
  });

  test('the number of origins kept is capped, the least recent leaves', async () => {
    const names = Array.from({ length: 520 }, (_, i) => `n${i}.example`);
    const { egress, dials } = await rig({
      dns: Object.fromEntries(names.map((name) => [name, [PUBLIC]])),
    });
    const fetch = egress.fetchFor({ audience: 'user-server' });
    for (const name of names) await read(fetch(`http://${name}/`));
    expect(dials).toHaveLength(520);
    await read(fetch(`http://${names.at(-1)!}/`));
    expect(dials).toHaveLength(520);
    await read(fetch(`http://${names[0]!}/`));
    expect(dials).toHaveLength(521);
    await egress.close();
  });

  test('refused URLs push no warm connection out', async () => {
    const { egress, dials } = await rig();
    const fetch = egress.fetchFor({ audience: 'user-server' });
    await read(fetch('http://a.example/'));
    for (let i = 0; i < 600; i += 1) await reasonOf(fetch(`http://gone${i}.example/`));
    await read(fetch('http://a.example/'));
    expect(dials).toHaveLength(1);
  });

  test('connections that nobody uses are closed after a minute', async () => {
    const clock = createFakeClock();
    const port = await startHttpServer((_request, response) => response.end('ok'));
    const { egress, dials } = createEgressRig({ dns, clock, loopbackPorts: port });
    const fetch = egress.fetchFor({ audience: 'user-server' });
    await read(fetch('http://a.example/'));
    expect(dials).toHaveLength(1);
    await clock.advance(120_000);
    await read(fetch('http://a.example/'));
    expect(dials).toHaveLength(2);
  });

  test('close lets requests finish for a moment, ends the rest, and refuses new ones', async () => {
    const clock = createFakeClock();
    const port = await startHttpServer((_request, response) => void response.write('half'));
    const { egress } = createEgressRig({ dns, clock, loopbackPorts: port });
    const fetch = egress.fetchFor({ audience: 'user-server' });
    const text = reasonOf((await fetch('http://a.example/')).text());
    const closed = egress.close(1_000);
    expect(await reasonOf(fetch('http://a.example/'))).toBe('closed');
    await clock.advance(1_000);
    await closed;
    expect(await text).toBe('connection_failed');
    await egress.close();
  });

  test('a silent address does not hold up the next one, and the loser is closed', async () => {
    const clock = createFakeClock();
    const { port } = await echo();
    let abandoned = false;
    const { egress, dials } = createEgressRig({
      clock,
      dns: { 'two.example': ['2606:4700::1', PUBLIC] },
      dial: ({ address }, signal) =>
        address === PUBLIC
          ? connectLoopback(port)
          : new Promise((_, reject) => {
              signal.addEventListener('abort', () => {
                abandoned = true;
                reject(new Error('aborted'));
              });
            }),
    });
    const promise = egress.fetchFor({ audience: 'user-server' })('http://two.example/');
    await clock.advance(250);
    expect(await (await promise).text()).toBe('ok');
    expect(dials.map(({ address }) => address)).toEqual(['2606:4700:0:0:0:0:0:1', PUBLIC]);
    await eventually('the loser is told', () => abandoned);
  });
});
