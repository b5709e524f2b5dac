import { createFakeClock, eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  type TestChild,
  isProcessAlive,
  keepAliveScript,
  printScript,
  startNodeChild,
} from '../../../test/childProcess.ts';
import { UpstreamError } from '../upstreamError.ts';

const paramsOf = (child: TestChild) =>
  child.messages.map((message) => (message as { params?: unknown }).params);
const firstParams = (child: TestChild) =>
  eventually('the first message', () => paramsOf(child)[0] as Record<string, number> | undefined);

describe('the environment of a stdio server', () => {
  test('is what was given and nothing of ours', async () => {
    process.env['PLANTED_SECRET'] = 'pl4nted';
    try {
      for (const env of [{}, { ONLY: 'this', EMPTY: '' }]) {
        const child = startNodeChild(printScript('{ env: process.env, cwd: process.cwd() }'), {
          env,
          cwd: '/',
        });
        await child.transport.start();
        expect(await firstParams(child)).toEqual({ env, cwd: '/' });
        await child.transport.close();
      }
    } finally {
      delete process.env['PLANTED_SECRET'];
    }
  });
});

describe('what a stdio server writes', () => {
  test('stderr arrives line by line, long ones cut, last words without a break too', async () => {
    const script = `
      process.stderr.write('one\\n\\ntw');
      setTimeout(() => {
        process.stderr.write('o\\r\\n' + 'x'.repeat(100_000) + '\\n' + '\\u00e4'.repeat(3) + '\\nlast words');
      }, 20);`;
    const child = startNodeChild(script);
    await child.transport.start();
    await eventually('the child to end', () => child.closeCount() === 1);
    expect(child.stderr).toEqual(['one', 'two', 'x'.repeat(8_192), 'äää', 'last words']);
  });

  test('a line that is no message does not break those after it', async () => {
    const good = (n: number) => printScript(`{ n: ${n} }`);
    const script = `
      process.stdout.write('Starting server...\\n{"jsonrpc":"2.0","met');
      process.stdout.write('hod":"said","params":{"n":1}}\\n');
      process.stdout.write('{"jsonrpc":"1.0"}\\n[]\\nnull\\n\\n{broken\\n\\xff\\xfe\\n');
      ${good(2)}
      process.stdout.write('{"jsonrpc":"2.0","method":"said","params":{"n":3}}\\r\\n');`;
    const child = startNodeChild(script);
    await child.transport.start();
    await eventually('the child to end', () => child.closeCount() === 1);
    expect(paramsOf(child)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(child.errors.length).toBeGreaterThan(0);
  });

  test('a line without end is refused and ends the server', async () => {
    const script = `
      const more = 'x'.repeat(1 << 20);
      const write = () => process.stdout.write(more, write);
      write();`;
    const clock = createFakeClock();
    const child = startNodeChild(script, { clock });
    await child.transport.start();
    await eventually('the refusal', () =>
      child.errors.some((error) => error instanceof UpstreamError && error.reason === 'too_large'),
    );
    await eventually('the server to end', async () => {
      await clock.advance(1_000);
      return child.closeCount() === 1;
    });
  });

  test('what the server wrote before it ended arrives', async () => {
    const child = startNodeChild(`for (let n = 0; n < 2_000; n += 1) ${printScript('{ n }')}`);
    await child.transport.start();
    await eventually('the child to end', () => child.closeCount() === 1);
    expect(child.messages).toHaveLength(2_000);
  });
});

describe('sending to a stdio server', () => {
  const message = (text: string) => ({ jsonrpc: '2.0' as const, method: 'x', params: { text } });

  test('what is sent arrives, also a megabyte and more', async () => {
    const script = `
      let text = '';
      process.stdin.on('data', (chunk) => {
        text += chunk;
        if (text.endsWith('\\n')) { const read = text.length; ${printScript('{ read }')} text = ''; }
      });`;
    const child = startNodeChild(script);
    await child.transport.start();
    const large = message('x'.repeat(3_000_000));
    await child.transport.send(large);
    expect(await firstParams(child)).toEqual({ read: JSON.stringify(large).length + 1 });
    await child.transport.close();
  });

  test('a send that is under way when the server dies is rejected, as every later one', async () => {
    const child = startNodeChild(`setTimeout(() => process.exit(3), 50); ${keepAliveScript}`);
    await child.transport.start();
    // More than a pipe holds, so it cannot be written while nobody reads.
    await expect(child.transport.send(message('x'.repeat(10_000_000)))).rejects.toThrow();
    await eventually('the closing', () => child.closeCount() === 1);
    await expect(child.transport.send(message('late'))).rejects.toMatchObject({ reason: 'ended' });
  });

  test('a command that does not exist rejects, and closing it is no wait', async () => {
    const child = startNodeChild('', { command: '/no/such/command', clock: createFakeClock() });
    await expect(child.transport.start()).rejects.toMatchObject({ code: 'ENOENT' });
    await child.transport.close();
    await expect(child.transport.send(message('x'))).rejects.toMatchObject({ reason: 'ended' });
    expect(child.signals).toEqual([]);
    const noDirectory = startNodeChild('', { cwd: '/no/such/directory' });
    await expect(noDirectory.transport.start()).rejects.toMatchObject({ code: 'ENOENT' });
    const nul = startNodeChild('', { command: 'a\0b' });
    await expect(nul.transport.start()).rejects.toThrow();
    await nul.transport.close();
  });
});

describe('ending a stdio server', () => {
  test('before the start, twice, at once and after its own end', async () => {
    const never = startNodeChild('');
    await never.transport.close();
    await never.transport.close();
    const child = startNodeChild('process.stdin.resume()');
    await child.transport.start();
    await Promise.all([child.transport.close(), child.transport.close()]);
    await child.transport.close();
    expect(child.closeCount()).toBe(1);
    const crashed = startNodeChild('process.exit(1)');
    await crashed.transport.start();
    await eventually('the crash', () => crashed.closeCount() === 1);
    await crashed.transport.close();
    expect(crashed.closeCount()).toBe(1);
  });

  test('a second start does not lose the first process', async () => {
    const child = startNodeChild('process.stdin.resume()');
    await child.transport.start();
    await expect(child.transport.start()).rejects.toThrow('is already running');
    await child.transport.close();
  });

  test('a server that ends when its input closes gets no signal before that', async () => {
    const clock = createFakeClock();
    const script = `process.stdin.resume().on('end', () => { ${printScript("{ bye: 'bye' }")} });`;
    const child = startNodeChild(script, { clock });
    await child.transport.start();
    await child.transport.close();
    expect(paramsOf(child)).toEqual([{ bye: 'bye' }]);
    expect(child.signals).not.toContain('SIGTERM');
  });

  test('SIGTERM after the grace, SIGKILL after another', async () => {
    const clock = createFakeClock();
    const child = startNodeChild(
      `process.on('SIGTERM', () => { ${printScript('{ term: 1 }')} }); ${printScript('{ pid: process.pid }')} ${keepAliveScript}`,
      {
        clock,
      },
    );
    await child.transport.start();
    const { pid } = await firstParams(child);
    const closed = child.transport.close();
    await clock.advance(1_999);
    expect(child.signals).toEqual([]);
    await clock.advance(1);
    await eventually('the server to hear SIGTERM', () => paramsOf(child).length === 2);
    await clock.advance(1_999);
    expect(child.signals).toEqual(['SIGTERM']);
    await clock.advance(1);
    await closed;
    expect(isProcessAlive(pid!)).toBe(false);
  });

  /** It outlives every test, and ends by itself where a test did not see to it. */
  const grandchild = (options: string) => `
    const { spawn } = require('node:child_process');
    const longer = "process.on('SIGTERM', () => {}); setTimeout(() => {}, 30_000)";
    const grandchild = spawn(process.execPath, ['-e', longer], ${options}).pid;
    ${printScript('{ grandchild }')}`;

  test('what the server itself started ends with it', async () => {
    for (const stdio of ['ignore', 'inherit']) {
      const child = startNodeChild(
        `${grandchild(`{ stdio: '${stdio}' }`)} process.stdin.resume().on('end', () => process.exit(0));`,
      );
      await child.transport.start();
      const pid = (await firstParams(child))['grandchild']!;
      expect(isProcessAlive(pid)).toBe(true);
      await child.transport.close();
      await eventually('the grandchild to end', () => !isProcessAlive(pid));
    }
  });

  test('also when the server crashed and nobody closed it', async () => {
    const child = startNodeChild(
      `${grandchild("{ stdio: 'inherit' }")} setTimeout(() => process.exit(1), 100);`,
    );
    await child.transport.start();
    const pid = (await firstParams(child))['grandchild']!;
    await eventually('the grandchild to end', () => !isProcessAlive(pid));
    await eventually('the closing', () => child.closeCount() === 1);
  });

  test('a process that left the group with our pipe in its hand holds nothing up', async () => {
    const child = startNodeChild(
      `${grandchild("{ stdio: 'inherit', detached: true }")} process.stdin.resume().on('end', () => process.exit(0));`,
    );
    await child.transport.start();
    const pid = (await firstParams(child))['grandchild']!;
    try {
      await child.transport.close();
      expect(child.closeCount()).toBe(1);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });
});
