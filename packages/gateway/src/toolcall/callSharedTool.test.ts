import { fileURLToPath } from 'node:url';
import { systemClock } from '@behalf/kernel';
import { verifies } from '@behalf/testkit';
import { afterEach, describe, expect } from '@jest/globals';
import {
  createSharedUpstreams,
  type SharedServer,
  type SharedUpstreams,
} from '../connections/sharedUpstreams.ts';
import { openStdioUpstream } from '../upstream/openStdioUpstream.ts';
import { callSharedTool } from './callSharedTool.ts';

const script = fileURLToPath(new URL('../../../testkit/fixtures/scriptedServer.mjs', import.meta.url));

function server(name: string, env: Record<string, string> = {}, timeoutMs = 30_000): SharedServer {
  return {
    name,
    revision: '1',
    open: (signal) =>
      openStdioUpstream(
        { command: process.execPath, args: [script], env },
        {
          clock: systemClock,
          version: '0.0.0',
          limits: { initTimeoutMs: 30_000, timeoutMs, maxPages: 50, maxTools: 1_000 },
          onStderr: () => undefined,
          kill: (pid, name) => void process.kill(pid, name),
        },
        signal,
      ),
  };
}

describe('a call of a shared tool', () => {
  let shared: SharedUpstreams;
  afterEach(() => shared.close());
  const { signal } = new AbortController();
  const call = (tool: string, args = {}, at = 'scripted') =>
    callSharedTool(shared, { server: at, tool, args, signal });

  verifies(
    'toolcall.failure-classes',
    'each way of failing has its code, and the next call works',
    async () => {
      shared = createSharedUpstreams([
        server('scripted', {}, 400),
        { ...server('gone'), open: () => Promise.reject(new Error('x')) },
      ]);
      expect(await call('echo', { message: 'hi' })).toMatchObject({ content: [{ text: 'hi' }] });
      const refusal = call('error');
      await expect(refusal).rejects.toMatchObject({ code: 'MCP_PROTOCOL_ERROR' });
      await expect(refusal).rejects.not.toMatchObject({ detail: expect.stringContaining('planted') });
      await expect(call('hang')).rejects.toMatchObject({ code: 'MCP_TIMEOUT' });
      await expect(call('exit')).rejects.toMatchObject({ code: 'MCP_OUTCOME_UNCERTAIN' });
      expect(await call('echo', { message: 'again' })).toMatchObject({ content: [{ text: 'again' }] });
      await expect(call('nothing')).rejects.toMatchObject({ code: 'MCP_TOOL_NOT_FOUND' });
      await expect(call('echo', {}, 'nowhere')).rejects.toMatchObject({ code: 'MCP_TOOL_NOT_FOUND' });
      await expect(call('echo', {}, 'gone')).rejects.toMatchObject({ code: 'MCP_UNREACHABLE' });
    },
  );

  verifies('upstream.hostile-schema', 'a pattern that backtracks for ever is never run', async () => {
    shared = createSharedUpstreams([server('scripted')]);
    expect(await call('hostile')).toMatchObject({ structuredContent: { text: `${'a'.repeat(40)}!` } });
  });
});
