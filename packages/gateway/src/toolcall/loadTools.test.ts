import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { define, toolcallRig } from '../../test/toolcallRig.ts';
import { callTool } from './callTool.ts';

const trace = { traceparent: '00-0123-4567-01', tracestate: 'a=1', baggage: 'of=ada' };
const mine = { hop: '2;sealed', trace, onProgress: () => undefined, onLog: () => undefined };
const call = { tool: 'echo', args: {} };

describe('a list that everybody waits for', () => {
  verifies('toolcall.catalog.nobodys', 'carries nothing of the one who came first', async () => {
    const rig = toolcallRig([define('shared')]);
    await callTool(rig.parts, { server: 'shared', ...call }, rig.inbound(mine));
    const [list] = rig.lists();
    expect(Object.keys(list!.options).sort()).toEqual(['headers', 'signal', 'timeoutMs', 'totalMs']);
    expect(JSON.stringify(list!.options)).not.toMatch(/traceparent|ada|sealed/);
    // The call itself is that caller's own.
    expect(rig.calls()[0]!.options).toMatchObject({
      extraHeaders: { 'x-behalf-hop': '2;sealed', ...trace },
      meta: trace,
    });
  });

  verifies('toolcall.catalog.nobodys', 'a list of one user alone is part of the call', async () => {
    const rig = toolcallRig([define('own', { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } })]);
    await callTool(rig.parts, { server: 'own', ...call }, rig.inbound(mine));
    expect(rig.lists()[0]!.options).toMatchObject({ extraHeaders: { 'x-behalf-hop': '2;sealed' } });
  });
});
