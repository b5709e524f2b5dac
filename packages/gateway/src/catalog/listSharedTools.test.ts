import { createFakeClock, verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { createSharedUpstreams } from '../connections/sharedUpstreams.ts';
import type { Upstream, UpstreamTool } from '../upstream/upstream.ts';
import { listSharedTools } from './listSharedTools.ts';

const listing = (listTools: () => Promise<UpstreamTool[]>) => async (): Promise<Upstream> => ({
  listTools,
  callTool: async () => ({}),
  onClose: () => undefined,
  close: async () => undefined,
});

describe('the tools of all shared servers', () => {
  verifies(
    'catalog.slow-server',
    'one that hangs and one that fails are named as such, and the others are there',
    async () => {
      const echo = { name: 'echo', inputSchema: {} };
      const clock = createFakeClock();
      const shared = createSharedUpstreams([
        { name: 'fine', revision: '1', open: listing(async () => [echo]) },
        { name: 'silent', revision: '1', open: listing(() => new Promise<never>(() => undefined)) },
        { name: 'broken', revision: '1', open: () => Promise.reject(new Error('no such program')) },
      ]);
      const listed = listSharedTools(shared, { clock, signal: new AbortController().signal });
      await clock.advance(10_000);
      expect(await listed).toEqual([
        { server: 'fine', state: 'connected', tools: [echo] },
        { server: 'silent', state: 'unreachable', code: 'MCP_TIMEOUT', cause: undefined },
        {
          server: 'broken',
          state: 'unreachable',
          code: 'MCP_UNREACHABLE',
          cause: new Error('no such program'),
        },
      ]);
    },
  );
});
