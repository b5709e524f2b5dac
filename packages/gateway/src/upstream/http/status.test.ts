import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, type ScriptedReply } from '@behalf/testkit';
import { callHttpTool, createHttpRig, expectUpstreamError, stopHttpRigs } from '../../../test/httpRig.ts';
import type { GatewayError } from '../../errors/gatewayError.ts';
import { toGatewayError } from '../toGatewayError.ts';
import type { UpstreamErrorDetail } from '../upstreamError.ts';

afterEach(stopHttpRigs);

const tools = [{ name: 'echo' }];
/** The id of the call being answered. */
const error = (code: number, id: unknown = null) => ({ jsonrpc: '2.0', id, error: { code, message: 'no' } });
/** A function of one parameter gets the id of the call. */
type Reply = ScriptedReply | ((id: unknown) => ScriptedReply);

async function failWith(reply: Reply, era: 'legacy' | 'modern' = 'legacy', sessions = true) {
  let calls = 0;
  const { server, open } = await createHttpRig({
    era,
    sessions,
    tools,
    respond: ({ message }) => {
      if (message?.method !== 'tools/call') return undefined;
      calls += 1;
      return typeof reply === 'function' ? (reply as (id: unknown) => ScriptedReply)(message.id) : reply;
    },
  });
  const failure = await expectUpstreamError(callHttpTool(await open(), 'echo'));
  return { failure, calls, server };
}

describe('a status', () => {
  for (const [what, reply, reason, detail] of [
    [
      '401',
      {
        status: 401,
        headers: {
          'www-authenticate':
            'Bearer error="invalid_token", scope="a b", resource_metadata="https://e.com/prm", claims="x"',
        },
      },
      'unauthorized',
      {
        challenge: {
          scheme: 'bearer',
          error: 'invalid_token',
          scope: 'a b',
          resourceMetadata: 'https://e.com/prm',
          claims: 'x',
        },
      },
    ],
    ['401 without a challenge', { status: 401 }, 'unauthorized', {}],
    ['403', { status: 403, body: 'no' }, 'forbidden', {}],
    [
      '403 that wants more scope',
      { status: 403, headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write"' } },
      'insufficient_scope',
      { challenge: { scope: 'write' } },
    ],
    ['405', { status: 405 }, 'wrong_url', {}],
    ['400', { status: 400, body: 'no' }, 'bad_request', {}],
    ['413', { status: 413 }, 'bad_request', {}],
    [
      '429 with seconds',
      { status: 429, headers: { 'retry-after': '7' } },
      'rate_limited',
      { retryAfterMs: 7_000 },
    ],
    [
      '429 with an hour',
      { status: 429, headers: { 'retry-after': '3600' } },
      'rate_limited',
      { retryAfterMs: 60_000 },
    ],
    [
      '429 with a date long past',
      { status: 429, headers: { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' } },
      'rate_limited',
      { retryAfterMs: 0 },
    ],
    [
      '429 with a date far ahead',
      { status: 429, headers: { 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT' } },
      'rate_limited',
      { retryAfterMs: 60_000 },
    ],
    ['301', { status: 301, headers: { location: 'https://elsewhere.example/' } }, 'redirected', {}],
    ['302', { status: 302, headers: { location: '/login' } }, 'redirected', {}],
    ['500', { status: 500, body: 'no' }, 'upstream_5xx', {}],
    ['503', { status: 503 }, 'upstream_5xx', {}],
  ] as [string, ScriptedReply & object, string, UpstreamErrorDetail][]) {
    test(`${what} is ${reason}`, async () => {
      const { failure, calls } = await failWith(reply);
      expect(failure).toMatchObject({
        reason,
        detail: { status: (reply as { status: number }).status, ...detail },
      });
      expect(calls).toBe(1);
    });
  }

  test('a redirect names the host it leads to, and no more of it', async () => {
    const redirected = async (location: string | undefined) => {
      const headers = location === undefined ? {} : { location };
      const { failure, server } = await failWith({ status: 302, headers });
      const { detail } = toGatewayError(failure, 'mail') as GatewayError;
      return { to: failure.detail.redirectedTo, detail, port: server.port };
    };
    const otherServer = await redirected('https://user:pw@Elsewhere.example:8443/login?token=planted#f');
    expect(otherServer.to).toBe('elsewhere.example:8443');
    expect(otherServer.detail).toBe(
      'mail answered with a redirect to elsewhere.example:8443 that is not followed (302). Put the final address into url.',
    );
    const { to, port } = await redirected('/login?token=planted');
    expect(to).toBe(`127.0.0.1:${port}`);
    for (const location of [
      undefined,
      'https://[',
      'mailto:a@b.example',
      `https://${'a'.repeat(300)}.example/`,
    ]) {
      const { to, detail } = await redirected(location);
      expect(to).toBeUndefined();
      expect(detail).toContain('mail answered with a redirect that is not followed (302).');
    }
  });

  test('also while the conversation opens', async () => {
    for (const era of ['legacy', 'auto'] as const) {
      const headers = { location: 'https://elsewhere.example/mcp' };
      const { open } = await createHttpRig({ era: 'legacy', respond: () => ({ status: 301, headers }) });
      expect(await expectUpstreamError(open({ era }))).toMatchObject({
        reason: 'redirected',
        detail: { status: 301, redirectedTo: 'elsewhere.example' },
      });
    }
  });

  test('a Retry-After that makes no sense is none', async () => {
    const { failure } = await failWith({ status: 429, headers: { 'retry-after': 'soon' } });
    expect(failure.detail.retryAfterMs).toBeUndefined();
  });

  test('404 without a session is a wrong URL', async () => {
    const { failure, server } = await failWith({ status: 404 }, 'legacy', false);
    expect(failure).toMatchObject({ reason: 'wrong_url', detail: { status: 404 } });
    expect(server.received('initialize')).toHaveLength(1);
  });

  test('a JSON-RPC error with our id is an answer, whatever its status', async () => {
    const bad = await failWith((id: unknown) => ({ status: 400, body: error(-32602, id) }));
    expect(bad.failure).toMatchObject({
      reason: 'rpc_error',
      detail: { rpc: { code: -32602 }, status: 400 },
    });
    const unknown = await failWith((id: unknown) => ({ status: 404, body: error(-32601, id) }), 'modern');
    expect(unknown.failure).toMatchObject({ reason: 'rpc_error', detail: { rpc: { code: -32601 } } });
  });

  for (const code of [-32020, -32021, -32022]) {
    test(`${code} says that a modern server did not take the form`, async () => {
      const { failure } = await failWith((id: unknown) => ({ status: 400, body: error(code, id) }), 'modern');
      expect(failure).toMatchObject({
        reason: 'header_mismatch',
        outcome: 'refused',
        detail: { rpc: { code } },
      });
      const anonymous = await failWith({ status: 400, body: error(code) }, 'modern');
      expect(anonymous.failure.reason).toBe('header_mismatch');
    });
  }
});

describe('an answer that is none', () => {
  for (const [what, reply, reason] of [
    [
      'no JSON',
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' },
      'invalid_response',
    ],
    ['nothing', { status: 200 }, 'invalid_response'],
    ['202', { status: 202 }, 'invalid_response'],
    ['another id', { status: 200, body: { jsonrpc: '2.0', id: 999, result: {} } }, 'invalid_response'],
    [
      'neither result nor error',
      (id: unknown) => ({ status: 200, body: { jsonrpc: '2.0', id } }),
      'invalid_response',
    ],
    ['a broken connection', 'reset', 'reset'],
  ] as [string, Reply, string][]) {
    test(`${what} is ${reason}, and the call is not sent again`, async () => {
      const { failure, calls } = await failWith(reply);
      expect(failure).toMatchObject({ reason, outcome: 'unknown' });
      expect(calls).toBe(1);
    });
  }

  for (const [what, chunks, reason] of [
    ['half an event', ['data: {"jsonrpc":"2.0"', ',"id":'], 'stream_broken'],
    ['an event without its end', ['data: {"jsonrpc":"2.0","id":ID,"result":{}}\n'], 'stream_broken'],
    ['a stream without an answer', [': hello\n\n'], 'stream_broken'],
    ['garbage in an event', ['data: <html>\n\n'], 'invalid_response'],
    ["somebody else's answer", ['data: {"jsonrpc":"2.0","id":4242,"result":{}}\n\n'], 'invalid_response'],
  ] as [string, string[], string][]) {
    test(`${what} is ${reason}, and the next call works`, async () => {
      let broken = true;
      const { server, open } = await createHttpRig({
        era: 'legacy',
        tools,
        respond: ({ message }) => {
          if (message?.method !== 'tools/call' || !broken) return undefined;
          broken = false;
          return (response) => {
            response.writeHead(200, { 'content-type': 'text/event-stream' });
            for (const chunk of chunks) response.write(chunk.replace('ID', String(message.id)));
            response.end();
          };
        },
      });
      const upstream = await open();
      expect(await expectUpstreamError(callHttpTool(upstream, 'echo'))).toMatchObject({
        reason,
        outcome: 'unknown',
      });
      expect(server.received('tools/call')).toHaveLength(1);
      await callHttpTool(upstream, 'echo');
    });
  }

  for (const stream of [false, true]) {
    test(`an endless ${stream ? 'event' : 'body'} ends at the limit`, async () => {
      const { server, open } = await createHttpRig(
        {
          era: 'legacy',
          tools,
          respond: ({ message }) => {
            if (message?.method !== 'tools/call') return undefined;
            return (response) => {
              response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
              response.write(stream ? 'data: ' : '"');
              const more = () => {
                while (!response.destroyed && response.write('x'.repeat(65_536)));
              };
              response.on('drain', more);
              more();
            };
          },
        },
        { network: { limits: { bodyBytes: 1_000_000, sseLineBytes: 1_000_000 } } },
      );
      const failure = await expectUpstreamError(callHttpTool(await open(), 'echo'));
      expect(failure).toMatchObject({ reason: 'too_large', code: 'MCP_RESPONSE_TOO_LARGE' });
      const [call] = server.received('tools/call');
      await eventually('the server is cut off', () => call!.aborted);
    });
  }

  test('a stream that goes on after the answer holds nobody up', async () => {
    const { server, open } = await createHttpRig({
      era: 'legacy',
      tools,
      respond: ({ message }) => {
        if (message?.method !== 'tools/call') return undefined;
        return (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(`data: {"jsonrpc":"2.0","id":${message.id},"result":{"a":1}}\n\n`);
          const more = setInterval(() => response.write('data: {"method":"x"}\n\n'), 20);
          response.on('close', () => clearInterval(more));
        };
      },
    });
    expect((await callHttpTool(await open(), 'echo')).result).toEqual({ a: 1 });
    const [call] = server.received('tools/call');
    await eventually('the server is cut off', () => call!.aborted);
  });

  test('a refusal of the door out is no run', async () => {
    const { server, open } = await createHttpRig({ era: 'legacy', tools });
    const upstream = await open();
    await server.close();
    // A connection that lay in the pool may break under the request; the next one cannot be made at all.
    await expectUpstreamError(callHttpTool(upstream, 'echo'));
    expect(await expectUpstreamError(callHttpTool(upstream, 'echo'))).toMatchObject({
      reason: 'connect_failed',
      outcome: 'unreachable',
    });
    expect(await expectUpstreamError(open({}, { url: 'http://127.0.0.1:9/mcp' }))).toMatchObject({
      reason: 'not_allowed',
      outcome: 'unreachable',
    });
  });

  test('a redirect to where nothing may go is refused', async () => {
    const { failure, calls } = await failWith({
      status: 307,
      headers: { location: 'http://169.254.169.254/' },
    });
    expect(failure).toMatchObject({ reason: 'not_allowed', outcome: 'unreachable' });
    expect(calls).toBe(1);
  });
});
