import { afterEach, describe, expect, test } from '@jest/globals';
import {
  callHttpTool,
  createHttpRig,
  expectUpstreamError,
  requestOptions,
  stopHttpRigs,
} from '../../../test/httpRig.ts';
import type { JsonObject } from '../upstream.ts';
import { encodeHeaderValue } from './serializeRequest.ts';

afterEach(stopHttpRigs);

const plain = (name: string) => ({ name, handler: () => ({ content: [] }) });

describe('a modern request', () => {
  for (const [value, encoded] of [
    ['echo', 'echo'],
    ['a tool/with:marks', 'a tool/with:marks'],
    ['größe', `=?base64?${Buffer.from('größe').toString('base64')}?=`],
    ['工具', `=?base64?${Buffer.from('工具').toString('base64')}?=`],
    [' a', '=?base64?IGE=?='],
    ['a\r\nx: y', `=?base64?${Buffer.from('a\r\nx: y').toString('base64')}?=`],
    ['=?base64?YQ==?=', `=?base64?${Buffer.from('=?base64?YQ==?=').toString('base64')}?=`],
    ['', '=?base64??='],
  ] as const) {
    test(`${JSON.stringify(value)} goes as ${encoded}`, () => {
      expect(encodeHeaderValue(value)).toBe(encoded);
    });
  }

  test('repeats its method and name, and carries no session', async () => {
    const { server, open } = await createHttpRig({
      era: 'modern',
      tools: [plain('echo'), plain('größe')],
      methods: { 'prompts/get': () => ({ messages: [] }), 'resources/read': () => ({ contents: [] }) },
    });
    const upstream = await open();
    await callHttpTool(upstream, 'echo');
    await callHttpTool(upstream, 'größe');
    await upstream.request('prompts/get', { name: 'hello' }, requestOptions());
    await upstream.request('resources/read', { uri: 'file:///ä' }, requestOptions());
    await upstream.request('tools/list', {}, requestOptions());
    expect(
      server.requests.slice(1).map(({ headers }) => [headers['mcp-method'], headers['mcp-name']]),
    ).toEqual([
      ['tools/call', 'echo'],
      ['tools/call', encodeHeaderValue('größe')],
      ['prompts/get', 'hello'],
      ['resources/read', encodeHeaderValue('file:///ä')],
      ['tools/list', undefined],
    ]);
    for (const { headers, message } of server.requests) {
      expect(headers['mcp-session-id']).toBeUndefined();
      expect(headers['mcp-protocol-version']).toBe('2026-07-28');
      expect(message!.params!['_meta']).toMatchObject({
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'behalf', version: '0.0.0-test' },
      });
    }
  });

  test('nobody replaces what it says of itself in _meta', async () => {
    const { server, open } = await createHttpRig({ era: 'modern', tools: [plain('echo')] });
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { sampling: {} } };
    await callHttpTool(await open(), 'echo', {}, { meta });
    const sent = server.received('tools/call')[0]!.message!.params!['_meta'] as JsonObject;
    expect(sent['io.modelcontextprotocol/clientCapabilities']).toEqual({});
  });

  test('carries the headers of its arguments', async () => {
    const inputSchema = {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    };
    const { open } = await createHttpRig({ era: 'modern', tools: [{ ...plain('route'), inputSchema }] });
    const upstream = await open();
    await callHttpTool(upstream, 'route', { region: 'eu' }, { extraHeaders: { 'mcp-param-region': 'eu' } });
    expect(await expectUpstreamError(callHttpTool(upstream, 'route', { region: 'eu' }))).toMatchObject({
      reason: 'header_mismatch',
      outcome: 'refused',
    });
  });

  test('an answer that wants input is no run', async () => {
    const result = { resultType: 'input_required', requestState: 'sealed', inputRequests: {} };
    const { open } = await createHttpRig({ era: 'modern', tools: [{ name: 'asks', handler: () => result }] });
    expect(await expectUpstreamError(callHttpTool(await open(), 'asks'))).toMatchObject({
      reason: 'input_required',
      outcome: 'refused',
      detail: { result },
    });
  });

  test('a request of the server is not answered', async () => {
    const { server, open } = await createHttpRig({
      era: 'modern',
      tools: [
        {
          name: 'asks',
          handler: (_, call) => {
            void call.sendRequest('ping', {});
            return { content: [] };
          },
        },
      ],
    });
    const upstream = await open();
    await callHttpTool(upstream, 'asks');
    await callHttpTool(upstream, 'asks');
    expect(server.requests.map(({ message }) => message?.method)).toEqual([
      'server/discover',
      'tools/call',
      'tools/call',
    ]);
  });
});
