import { systemClock, systemRandom } from '@behalf/kernel';
import { createTestNetwork, scriptedHttpServer } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { adaUser, defineServer, noOboTokens, createToolcallRig } from '../../test/toolcallRig.ts';
import { createConnectionManager } from '../connections/connectionManager.ts';
import { createCredentials } from '../credentials/credentials.ts';
import { createStdioLimits } from '../upstream/channel/stdioTransport.ts';
import { createOpenUpstream } from '../upstream/openUpstream.ts';
import { callTool } from './callTool.ts';

describe('a stored server that others may use', () => {
  test('ten viewers of one key have ten sessions', async () => {
    const upstream = await scriptedHttpServer({ era: 'legacy', tools: [{ name: 'echo' }] });
    const network = createTestNetwork([upstream.port]);
    const server = defineServer(
      'shared',
      {
        url: upstream.url,
        // A key in the definition: the same for everybody, and still no reason to share a session.
        apiKey: { source: 'admin', authorization_type: 'bearer', key: 'k-static' },
      },
      { source: 'user', author: adaUser.userId },
    );
    const connections = createConnectionManager({
      open: createOpenUpstream({
        clock: systemClock,
        random: systemRandom,
        version: '0',
        network,
        log: () => undefined,
        onStderr: () => undefined,
        kill: () => undefined,
        limits: createStdioLimits(),
      }),
      clock: systemClock,
      random: systemRandom,
    });
    connections.update([server]);
    try {
      const rig = createToolcallRig([server]);
      const variables = { read: () => Promise.reject(new Error('it takes none')), close: () => undefined };
      const credentials = createCredentials({
        variables,
        inheritedEnv: {},
        obo: noOboTokens,
        oauth: { obtain: () => null },
        graphScopes: '',
      });
      const parts = { ...rig.parts, connections, credentials, clock: systemClock };
      const viewers = Array.from({ length: 10 }, (_, index) => ({ ...adaUser, userId: `viewer-${index}` }));
      // Twice each, and all at once: the second call finds the session of the first.
      for (const round of [1, 2]) {
        await Promise.all(
          viewers.map(async (principal) => {
            const call = { server: 'shared', tool: 'echo', args: { who: principal.userId, round } };
            const outcome = await callTool(parts, call, rig.inbound({ principal }));
            expect(JSON.stringify(outcome)).toContain(principal.userId);
          }),
        );
      }
      const sessions = new Map<string, Set<unknown>>();
      for (const { headers, message } of upstream.received('tools/call')) {
        const { who } = message?.params?.['arguments'] as { who: string };
        sessions.set(who, (sessions.get(who) ?? new Set()).add(headers['mcp-session-id']));
        expect(headers['authorization']).toBe('Bearer k-static');
      }
      expect([...sessions.values()].map((own) => own.size)).toEqual(Array(10).fill(1));
      expect(new Set([...sessions.values()].flatMap((own) => [...own])).size).toBe(10);
      expect(upstream.sessions.size).toBe(10);
    } finally {
      await connections.close();
      await network.close();
      await upstream.close();
    }
  });
});
