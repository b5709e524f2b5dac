import { describe, expect, test } from '@jest/globals';
import { createRemoteTarget } from '../../test/connectionsRig.ts';
import { adaUser, defineServer, createToolcallRig } from '../../test/toolcallRig.ts';
import { principalKey } from '../principal/principal.ts';
import { reinitialize } from '../servers/reinit/reinitialize.ts';
import { callTool } from './callTool.ts';
import { listTools } from './list.ts';

const trace = { traceparent: '00-0123-4567-01', tracestate: 'a=1', baggage: 'of=ada' };
const mine = { hop: '2;sealed', trace, onProgress: () => undefined, onLog: () => undefined };
const call = { tool: 'echo', args: {} };

describe('a list that everybody waits for', () => {
  test('carries nothing of the one who came first', async () => {
    const rig = createToolcallRig([defineServer('shared')]);
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

  test('a list of one user alone is part of the call', async () => {
    const rig = createToolcallRig([defineServer('own', { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } })]);
    await callTool(rig.parts, { server: 'own', ...call }, rig.inbound(mine));
    expect(rig.lists()[0]!.options).toMatchObject({ extraHeaders: { 'x-behalf-hop': '2;sealed' } });
  });
});

const nothing = () => undefined;
const notAsked = () => {
  throw new Error('nobody asks');
};
/** What reinitialising a server that works does not need. */
const unused = {
  inspectionScheduler: {
    update: nothing,
    getState: () => ({ kind: 'skipped' as const }),
    reinspect: notAsked,
    close: nothing,
  },
  open: notAsked,
  openWithoutSession: notAsked,
  signInStarter: { start: notAsked },
};

describe('a list asked for with what a user entered before', () => {
  const ways = {
    list: (rig: Rig) => listTools(rig.parts, rig.inbound()),
    call: (rig: Rig) => callTool(rig.parts, { server: 'own', ...call }, rig.inbound()),
    reinitialize: (rig: Rig) => reinitialize({ ...rig.parts, ...unused }, 'own', {}, rig.inbound()),
  };
  type Rig = ReturnType<typeof createToolcallRig>;

  /** A server that shows a tool by the name of the key it is sent, and a user who enters another meanwhile. */
  function changing(when: 'while it is listed' | 'while the old one is read') {
    const rig = createToolcallRig([defineServer('own', { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } })]);
    let key = 'old';
    const change = () => {
      if (key === 'new') return;
      key = 'new';
      rig.catalog.invalidate('own', principalKey(adaUser));
    };
    rig.tools = undefined;
    rig.credential = () => {
      const target = createRemoteTarget(undefined, { headers: { authorization: key } });
      if (when === 'while the old one is read') change();
      return { target, binding: target.headers['authorization']! };
    };
    rig.answers = ({ method, options }) => {
      if (method !== 'tools/list') return { content: [] };
      if (when === 'while it is listed') change();
      return {
        tools: ['echo', options.headers!['authorization']].map((name) => ({ name, inputSchema: {} })),
      };
    };
    return rig;
  }

  for (const when of ['while it is listed', 'while the old one is read'] as const) {
    for (const [what, way] of Object.entries(ways)) {
      test(`is not what is kept, changed ${when}: ${what}`, async () => {
        const rig = changing(when);
        await way(rig);
        const [own] = await listTools(rig.parts, rig.inbound());
        expect(own!.tools.map(({ name }) => name)).toEqual(['echo', 'new']);
        expect(rig.calls().map(({ options }) => options.headers?.['authorization'])).toEqual(
          what === 'call' ? ['new'] : [],
        );
      });
    }
  }
});
