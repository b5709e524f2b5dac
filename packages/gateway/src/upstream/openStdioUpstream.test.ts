import { eventually, verifies } from '@behalf/testkit';
import { afterEach, describe, expect } from '@jest/globals';
import { staysAlive } from '../../test/childProcess.ts';
import { openSample } from '../../test/sampleServer.ts';
import type { Upstream } from './upstream.ts';

describe('a stdio upstream', () => {
  const open: Upstream[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((upstream) => upstream.close()));
  });
  const opened = async (...args: Parameters<typeof openSample>) => {
    const upstream = await openSample(...args);
    open.push(upstream);
    return upstream;
  };

  verifies('stdio.upstream.reference', 'the reference server lists its tools and echoes', async () => {
    const upstream = await opened();
    const tools = await upstream.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['echo', 'get-env', 'gzip-file-as-resource']),
    );
    expect(tools.find(({ name }) => name === 'echo')?.inputSchema).toMatchObject({ type: 'object' });
    expect(await upstream.callTool('echo', { message: 'hello' })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hello' }],
    });
  });

  verifies(
    'stdio.upstream.cancelled',
    'a caller who gives up is released and the server goes on',
    async () => {
      const upstream = await opened();
      const controller = new AbortController();
      const slow = upstream.callTool(
        'trigger-long-running-operation',
        { duration: 60, steps: 1 },
        controller.signal,
      );
      controller.abort(new Error('gave up'));
      await expect(slow).rejects.toThrow();
      expect(await upstream.callTool('echo', { message: 'still here' })).toMatchObject({
        content: [{ text: 'Echo: still here' }],
      });
    },
  );

  verifies(
    'stdio.upstream.ended',
    'the end of the server rejects what waits and is told once, also to who asks late',
    async () => {
      const upstream = await opened();
      const heard: string[] = [];
      upstream.onClose(() => heard.push('early'));
      const waiting = upstream.callTool('trigger-long-running-operation', { duration: 60, steps: 1 });
      const rejected = expect(waiting).rejects.toThrow();
      await upstream.close();
      await rejected;
      await eventually('the end to be told', () => heard.length === 1);
      upstream.onClose(() => heard.push('late'));
      expect(heard).toEqual(['early', 'late']);
      await expect(upstream.callTool('echo', { message: 'x' })).rejects.toThrow();
    },
  );

  verifies('stdio.upstream.refused', 'a command that is none, or no server, is an error', async () => {
    await expect(openSample({ command: '/no/such/command' })).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(openSample({ args: ['-e', 'process.exit(1)'] })).rejects.toThrow();
  });

  verifies('stdio.upstream.refused', 'opening a server that never answers can be given up', async () => {
    const controller = new AbortController();
    const opening = openSample(
      {
        args: ['-e', `process.stdin.resume(); process.stdin.on('end', () => process.exit(0)); ${staysAlive}`],
      },
      controller.signal,
    );
    const rejected = expect(opening).rejects.toThrow();
    controller.abort(new Error('shutting down'));
    await rejected;
  });
});
