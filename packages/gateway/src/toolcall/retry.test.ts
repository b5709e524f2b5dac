import { describe, expect, test } from '@jest/globals';
import {
  defineServer,
  captureRejection,
  createToolcallRig,
  requireServerOutcome,
} from '../../test/toolcallRig.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';
import { callTool } from './callTool.ts';
import { listServer } from './list.ts';
import { readServer } from './read.ts';

const harmless = [{ name: 'echo', annotations: { readOnlyHint: true, idempotentHint: true } }];
const call = { server: 'odd', tool: 'echo', args: { a: 1 } };
const unknown = ['timeout', 'stream_broken', 'reset', 'upstream_5xx', 'invalid_response'] as const;
const refused = ['unauthorized', 'forbidden', 'rate_limited', 'bad_request', 'input_required'] as const;
const unreachable = ['not_allowed', 'connect_failed', 'connect_timeout', 'too_many', 'breaker_open'] as const;

/** A server whose answers fail for these reasons, one after the other; then it answers. */
function failing(
  reasons: readonly UpstreamReason[],
  definition: JsonObject = {},
  tools: readonly JsonObject[] = harmless,
) {
  const rig = createToolcallRig([defineServer('odd', definition)], tools);
  rig.answers = (_sent, turn) => {
    const reason = reasons[turn - 1];
    if (reason !== undefined) return Promise.reject(new UpstreamError(reason));
    return { content: [], turn };
  };
  return rig;
}

describe('when a call is sent again', () => {
  test('what may have run is never sent twice on the server’s word', async () => {
    for (const reason of unknown) {
      const rig = failing([reason]);
      const error = await captureRejection(callTool(rig.parts, call, rig.inbound()));
      expect([reason, error]).toEqual([
        reason,
        expect.objectContaining({ code: new UpstreamError(reason).code }),
      ]);
      expect([reason, rig.calls().length]).toEqual([reason, 1]);
    }
  });

  test('nor when the operator trusts the server but the tool says nothing', async () => {
    for (const annotations of [undefined, {}, { readOnlyHint: 'true' }, { destructiveHint: false }]) {
      const tool = { name: 'echo', ...(annotations && { annotations }) };
      const rig = failing(['reset'], { trustAnnotations: true, idempotentTools: ['other'] }, [tool]);
      await captureRejection(callTool(rig.parts, call, rig.inbound()));
      expect(rig.calls()).toHaveLength(1);
    }
  });

  test('what the operator vouches for is sent once more', async () => {
    const vouched: [JsonObject, JsonObject][] = [
      [{ trustAnnotations: true }, { name: 'echo', annotations: { readOnlyHint: true } }],
      [{ trustAnnotations: true }, { name: 'echo', annotations: { idempotentHint: true } }],
      [{ idempotentTools: ['echo'] }, { name: 'echo' }],
    ];
    for (const [definition, tool] of vouched) {
      for (const reason of unknown) {
        const rig = failing([reason], definition, [tool]);
        const { result } = requireServerOutcome(await callTool(rig.parts, call, rig.inbound()));
        expect([reason, result['turn'], rig.calls().length]).toEqual([reason, 2, 2]);
        expect(rig.calls()[1]?.params).toEqual(rig.calls()[0]?.params);
      }
    }
  });

  test('never more than twice, however often it fails', async () => {
    for (const reason of [...unknown, 'ended'] as const) {
      const rig = failing([reason, reason, reason, reason], { idempotentTools: ['echo'] });
      await captureRejection(callTool(rig.parts, call, rig.inbound()));
      expect([reason, rig.calls().length]).toEqual([reason, 2]);
    }
  });

  test('failures of different kinds do not add up', async () => {
    for (const reasons of [
      ['reset', 'header_mismatch', 'reset', 'reset'],
      ['ended', 'header_mismatch', 'ended', 'ended'],
      ['header_mismatch', 'reset', 'reset', 'reset'],
    ] as const) {
      const rig = failing(reasons, { idempotentTools: ['echo'] });
      await captureRejection(callTool(rig.parts, call, rig.inbound()));
      expect([reasons, rig.calls().length]).toEqual([reasons, 2]);
    }
  });

  test('a connection that was gone before the call is replaced once', async () => {
    const rig = failing(['ended'], {}, [{ name: 'echo' }]);
    expect(await callTool(rig.parts, call, rig.inbound())).toMatchObject({ result: { turn: 2 } });
    // The list, the call, the call again: each with a lease of its own that ended.
    expect(rig.leases).toHaveLength(3);
    expect(rig.released).toEqual([undefined, expect.objectContaining({ reason: 'ended' }), undefined]);
  });

  test('also for a list', async () => {
    for (const [reasons, sentCount] of [
      [['ended'], 2],
      [['ended', 'ended', 'ended'], 2],
      [['reset'], 1],
    ] as const) {
      const rig = failing(reasons, { trustAnnotations: true });
      const prompts = rig.answers;
      rig.answers = (sent, turn) => Promise.resolve(prompts(sent, turn)).then(() => ({ prompts: [] }));
      const listing = listServer(rig.parts, 'odd', 'prompts/list', rig.inbound());
      if (reasons.length === 1 && sentCount === 2) expect(await listing).toMatchObject({ complete: true });
      else await captureRejection(listing);
      expect([reasons, rig.sent.length]).toEqual([reasons, sentCount]);
    }
  });

  test('also for what is read', async () => {
    const rig = failing(['ended']);
    const reading = { method: 'resources/read', params: { uri: 'a:b' } } as const;
    expect((await readServer(rig.parts, 'odd', reading, rig.inbound())).result['turn']).toBe(2);
    const lost = failing(['reset'], { trustAnnotations: true });
    await captureRejection(readServer(lost.parts, 'odd', reading, lost.inbound()));
    expect(lost.sent).toHaveLength(1);
  });

  test('an answer that is too large would be too large again', async () => {
    const rig = failing(['too_large'], { idempotentTools: ['echo'], trustAnnotations: true });
    expect(await captureRejection(callTool(rig.parts, call, rig.inbound()))).toMatchObject({
      code: 'MCP_RESPONSE_TOO_LARGE',
    });
    expect(rig.calls()).toHaveLength(1);
  });

  test('neither is what was refused or never got there', async () => {
    for (const reason of [...refused, ...unreachable]) {
      const rig = failing([reason], {
        idempotentTools: ['echo'],
        apiKey: { source: 'admin', authorization_type: 'bearer', key: 'k' },
      });
      await captureRejection(callTool(rig.parts, call, rig.inbound()));
      expect([reason, rig.calls().length]).toEqual([reason, 1]);
    }
  });

  test('for somebody who has left nothing is sent again', async () => {
    for (const reason of ['ended', 'reset'] as const) {
      const rig = failing([], { idempotentTools: ['echo'] });
      rig.answers = () => {
        rig.leave();
        return Promise.reject(new UpstreamError(reason));
      };
      await captureRejection(callTool(rig.parts, call, rig.inbound()));
      expect([reason, rig.calls().length]).toEqual([reason, 1]);
    }
  });

  test('the tool is looked up again, then the call is sent once more', async () => {
    const rig = failing(['header_mismatch']);
    expect(await callTool(rig.parts, call, rig.inbound())).toMatchObject({ result: { turn: 2 } });
    expect([rig.lists().length, rig.calls().length]).toEqual([2, 2]);
  });

  test('the second time it is sent as the new list wants it', async () => {
    const rig = failing(['header_mismatch']);
    // Only this era knows them.
    Object.assign(rig.upstream.claims, { era: 'modern' });
    const fail = rig.answers;
    const region = { type: 'string', 'x-mcp-header': 'Region' };
    rig.answers = (sent, turn) => {
      rig.tools = [{ name: 'echo', inputSchema: { type: 'object', properties: { region } } }];
      return fail(sent, turn);
    };
    await callTool(rig.parts, { ...call, args: { region: 'eu' } }, rig.inbound());
    expect(rig.calls().map(({ options }) => options.extraHeaders?.['mcp-param-region'])).toEqual([
      undefined,
      'eu',
    ]);
  });

  test('a second mismatch is an error', async () => {
    const rig = failing(['header_mismatch', 'header_mismatch', 'header_mismatch']);
    expect(await captureRejection(callTool(rig.parts, call, rig.inbound()))).toMatchObject({
      code: 'MCP_FORM_REFUSED',
    });
    expect([rig.lists().length, rig.calls().length]).toEqual([2, 2]);
  });

  test('what the new list says holds: gone, hidden, or other arguments', async () => {
    const now: [readonly JsonObject[], string][] = [
      [[{ name: 'other' }], 'MCP_TOOL_NOT_FOUND'],
      [[{ name: 'echo' }], 'MCP_TOOL_NOT_FOUND'],
      [[{ ...harmless[0], inputSchema: { type: 'object', required: ['new'] } }], 'MCP_ARGUMENTS_INVALID'],
    ];
    for (const [tools, code] of now) {
      const rig = failing(['header_mismatch'], { tools: { readOnlyOnly: true } });
      const fail = rig.answers;
      rig.answers = (sent, turn) => {
        rig.tools = tools;
        return fail(sent, turn);
      };
      expect(await captureRejection(callTool(rig.parts, call, rig.inbound()))).toMatchObject({ code });
      expect(rig.calls()).toHaveLength(1);
    }
  });
});
