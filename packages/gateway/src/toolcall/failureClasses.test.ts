import { httpStatus } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import {
  defineServer,
  captureRejection,
  createToolcallRig,
  requireServerOutcome,
} from '../../test/toolcallRig.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { UpstreamError, type UpstreamErrorDetail, type UpstreamReason } from '../upstream/upstreamError.ts';
import { callTool } from './callTool.ts';
import { listServer } from './list.ts';
import { readServer } from './read.ts';

/** Every reason, and what a caller is told. One that is missing here does not compile. */
const expectedErrors: Record<Exclude<UpstreamReason, 'rpc_error'>, [code: string, status: number]> = {
  unauthorized: ['MCP_CREDENTIAL_REJECTED', 502],
  forbidden: ['MCP_CREDENTIAL_REJECTED', 502],
  insufficient_scope: ['MCP_CREDENTIAL_REJECTED', 502],
  session_lost: ['MCP_UNREACHABLE', 502],
  rate_limited: ['MCP_RATE_LIMITED', 429],
  wrong_url: ['MCP_PROTOCOL_ERROR', 502],
  redirected: ['MCP_PROTOCOL_ERROR', 502],
  bad_request: ['MCP_PROTOCOL_ERROR', 502],
  input_required: ['MCP_DIALOGUE_UNSUPPORTED', 422],
  header_mismatch: ['MCP_FORM_REFUSED', 502],
  task: ['MCP_PROTOCOL_ERROR', 502],
  timeout: ['MCP_TIMEOUT', 504],
  stream_broken: ['MCP_OUTCOME_UNCERTAIN', 502],
  reset: ['MCP_OUTCOME_UNCERTAIN', 502],
  upstream_5xx: ['MCP_OUTCOME_UNCERTAIN', 502],
  invalid_response: ['MCP_PROTOCOL_ERROR', 502],
  too_large: ['MCP_RESPONSE_TOO_LARGE', 502],
  not_allowed: ['MCP_DOMAIN_NOT_ALLOWED', 403],
  connect_failed: ['MCP_UNREACHABLE', 502],
  connect_timeout: ['MCP_TIMEOUT', 504],
  ended: ['MCP_UNREACHABLE', 502],
  too_many: ['MCP_RATE_LIMITED', 429],
  breaker_open: ['MCP_BREAKER_OPEN', 503],
  token_timeout: ['OBO_TEMPORARY', 503],
  bearer_unsupported: ['OBO_MISCONFIGURED', 500],
};
const reasons = Object.keys(expectedErrors) as (keyof typeof expectedErrors)[];

/** A server that is given a key, so that a 401 is about the key. */
const keyed = defineServer('odd', { apiKey: { source: 'admin', authorization_type: 'bearer', key: 'k' } });
const planted = 'planted words of the server';
const detail: UpstreamErrorDetail = {
  status: 418,
  retryAfterMs: 7_000,
  rpc: { code: -32_603, message: planted, data: planted },
  challenge: {
    scheme: 'Bearer',
    error: planted,
    scope: planted,
    resourceMetadata: planted,
    claims: planted,
  },
  cause: new Error(planted),
};

function failing(reason: UpstreamReason, more: UpstreamErrorDetail = detail) {
  const rig = createToolcallRig([keyed]);
  rig.answers = () => Promise.reject(new UpstreamError(reason, more));
  return rig;
}

const call = { server: 'odd', tool: 'echo', args: {} };

describe('what a caller is told of a failed call', () => {
  test('each way to fail has its code and its status', async () => {
    for (const reason of reasons) {
      const rig = failing(reason);
      const error = (await captureRejection(callTool(rig.parts, call, rig.inbound()))) as GatewayError;
      expect([reason, error]).toEqual([reason, expect.any(GatewayError)]);
      expect([reason, error.code, httpStatus(error.code)]).toEqual([reason, ...expectedErrors[reason]]);
      expect([reason, error.retryAfterMs]).toEqual([reason, 7_000]);
    }
  });

  test('nothing of what the server said is repeated', async () => {
    for (const reason of reasons) {
      const rig = failing(reason);
      const error = (await captureRejection(callTool(rig.parts, call, rig.inbound()))) as GatewayError;
      expect([reason, `${error.detail} ${error.message} ${JSON.stringify(error.errors ?? '')}`]).not.toEqual([
        reason,
        expect.stringContaining('planted'),
      ]);
    }
  });

  test('a server that names no time is not given one', async () => {
    const rig = failing('rate_limited', {});
    expect(await captureRejection(callTool(rig.parts, call, rig.inbound()))).toMatchObject({
      retryAfterMs: undefined,
    });
  });

  test('what kept the connection from opening is told the same way', async () => {
    for (const reason of ['connect_failed', 'breaker_open', 'too_many', 'not_allowed'] as const) {
      const rig = createToolcallRig([keyed]);
      await callTool(rig.parts, call, rig.inbound());
      rig.onLease = () => Promise.reject(new UpstreamError(reason, { retryAfterMs: 1_000 }));
      const error = await captureRejection(callTool(rig.parts, call, rig.inbound()));
      expect([reason, error]).toEqual([reason, expect.objectContaining({ code: expectedErrors[reason][0] })]);
      expect(error).toMatchObject({ retryAfterMs: 1_000 });
    }
  });

  test('an error of the tool is a result with the server’s words', async () => {
    const rig = failing('rpc_error', { rpc: { code: -32_602, message: 'the date lies in the past' } });
    expect(await callTool(rig.parts, call, rig.inbound())).toMatchObject({
      result: {
        content: [{ type: 'text', text: 'the date lies in the past' }],
        isError: true,
        _meta: { 'behalf/rpcError': { code: -32_602 } },
      },
    });
  });

  test('its words are bounded, and its data is not passed on', async () => {
    const rig = failing('rpc_error', { rpc: { code: 1, message: 'x'.repeat(100_000), data: planted } });
    const { result } = requireServerOutcome(await callTool(rig.parts, call, rig.inbound()));
    expect(JSON.stringify(result).length).toBeLessThan(4_300);
    expect(JSON.stringify(result)).not.toContain('planted');
  });

  test('a server that does not know calls at all is a fault of the server', async () => {
    for (const code of [-32_700, -32_600, -32_601]) {
      const rig = failing('rpc_error', { rpc: { code, message: planted } });
      const error = (await captureRejection(callTool(rig.parts, call, rig.inbound()))) as GatewayError;
      expect([code, error.code]).toEqual([code, 'MCP_PROTOCOL_ERROR']);
      expect(error.detail).not.toContain('planted');
    }
  });

  test('a list that fails is not the result of a call that was never made', async () => {
    const rig = failing('rpc_error', { rpc: { code: -32_603, message: planted } });
    rig.tools = undefined;
    expect(await captureRejection(callTool(rig.parts, call, rig.inbound()))).toMatchObject({
      code: 'MCP_PROTOCOL_ERROR',
    });
    expect(rig.calls()).toHaveLength(0);
    // The same when the list is asked for in the middle of a call.
    const again = failing('header_mismatch');
    again.answers = ({ method }) => {
      again.tools = undefined;
      const list = new UpstreamError('rpc_error', { rpc: { code: -32_603, message: planted } });
      return Promise.reject(method === 'tools/list' ? list : new UpstreamError('header_mismatch'));
    };
    expect(await captureRejection(callTool(again.parts, call, again.inbound()))).toMatchObject({
      code: 'MCP_PROTOCOL_ERROR',
    });
    expect(again.lists()).toHaveLength(2);
  });

  test('what the server does not have is not found, anything else is not', async () => {
    const prompt = { method: 'prompts/get', params: { name: 'p', arguments: {} } } as const;
    const resource = { method: 'resources/read', params: { uri: 'a:b' } } as const;
    for (const [code, reading, expected] of [
      [-32_602, prompt, 'MCP_PROMPT_NOT_FOUND'],
      [-32_002, resource, 'MCP_RESOURCE_NOT_FOUND'],
      [-32_601, prompt, 'MCP_METHOD_NOT_FOUND'],
      [-32_601, resource, 'MCP_METHOD_NOT_FOUND'],
      [-32_603, resource, 'MCP_PROTOCOL_ERROR'],
    ] as const) {
      const rig = failing('rpc_error', { rpc: { code, message: planted } });
      const error = (await captureRejection(
        readServer(rig.parts, 'odd', reading, rig.inbound()),
      )) as GatewayError;
      expect(error.code).toBe(expected);
      expect(error.detail).not.toContain('planted');
    }
  });

  test('a 401 without any credential is a sign-in that is needed, also here', async () => {
    const open = defineServer('odd');
    const resource = { method: 'resources/read', params: { uri: 'a:b' } } as const;
    for (const [server, expected] of [
      [open, 'MCP_AUTHORIZATION_REQUIRED'],
      [keyed, 'MCP_CREDENTIAL_REJECTED'],
    ] as const) {
      const rig = createToolcallRig([server]);
      rig.answers = () => Promise.reject(new UpstreamError('unauthorized'));
      const read = await captureRejection(readServer(rig.parts, 'odd', resource, rig.inbound()));
      const listed = await captureRejection(listServer(rig.parts, 'odd', 'prompts/list', rig.inbound()));
      expect([read, listed]).toEqual([
        expect.objectContaining({ code: expected }),
        expect.objectContaining({ code: expected }),
      ]);
    }
  });
});
