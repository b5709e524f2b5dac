import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createChannelRig, readPid, scriptedTarget, type ChannelRig } from '../../../test/channelRig.ts';
import { createStdioLimits } from './stdioTransport.ts';

const rigs: ChannelRig[] = [];
afterEach(async () => {
  await Promise.all(rigs.splice(0).map((rig) => rig.closeAll()));
});
function createRig(...args: Parameters<typeof createChannelRig>): ChannelRig {
  const rig = createChannelRig(...args);
  rigs.push(rig);
  return rig;
}

describe('how many child processes may run', () => {
  test('four of one user, and a place is free again when a process is gone', async () => {
    const rig = createRig();
    const owner = 'user-1';
    const open = await Promise.all([1, 2, 3, 4].map(() => rig.open(scriptedTarget(), { owner })));
    await expect(rig.open(scriptedTarget(), { owner })).rejects.toMatchObject({
      reason: 'too_many',
      outcome: 'unreachable',
      code: 'MCP_RATE_LIMITED',
    });
    // The probe's sibling counts too.
    await expect(rig.open(scriptedTarget(), { owner, era: 'auto' })).rejects.toMatchObject({
      reason: 'too_many',
    });
    await rig.open(scriptedTarget(), { owner: 'user-2' });
    await Promise.all([1, 2, 3, 4].map(() => rig.open(scriptedTarget())));
    await expect(rig.open(scriptedTarget())).rejects.toMatchObject({ reason: 'too_many' });
    process.kill(await readPid(open[0]!), 'SIGKILL');
    await eventually('a free place', () => rig.open(scriptedTarget(), { owner }).catch(() => undefined));
    await open[1]!.close();
    await rig.open(scriptedTarget(), { owner });
  });

  test('so many in all; what could not start takes no place', async () => {
    const limits = createStdioLimits({ maxTotal: 2 });
    const rig = createRig({ limits });
    for (const command of ['/no/such/command', 'a\0b'])
      for (let n = 0; n < 4; n += 1)
        await expect(rig.open({ ...scriptedTarget(), command }, { owner: 'user-1' })).rejects.toMatchObject({
          reason: 'connect_failed',
        });
    await rig.open(scriptedTarget());
    const second = await rig.open(scriptedTarget(), { owner: 'user-1' });
    await expect(rig.open(scriptedTarget())).rejects.toMatchObject({ reason: 'too_many' });
    await second.close();
    await second.close();
    await rig.open(scriptedTarget());
    await expect(rig.open(scriptedTarget())).rejects.toMatchObject({ reason: 'too_many' });
  });

  test('four of one server that everybody shares', () => {
    const limits = createStdioLimits();
    const [release] = [1, 2, 3, 4].map(() => limits.acquire(undefined, 'shared'));
    expect(() => limits.acquire(undefined, 'shared')).toThrow(
      expect.objectContaining({ reason: 'too_many' }),
    );
    // Other servers, and users’ own children of the same one, have places of their own.
    limits.acquire(undefined, 'other');
    limits.acquire('shared', 'shared');
    release!();
    limits.acquire(undefined, 'shared');
    expect(() => limits.acquire(undefined, 'shared')).toThrow();
  });

  test('sixty-four unless told', () => {
    const limits = createStdioLimits();
    const release = Array.from({ length: 64 }, (_, n) => limits.acquire(undefined, `server ${n}`))[0]!;
    expect(() => limits.acquire(undefined, 'x')).toThrow(expect.objectContaining({ reason: 'too_many' }));
    release();
    release();
    limits.acquire('user-1', 'x');
    expect(() => limits.acquire(undefined, 'x')).toThrow();
  });
});

describe('the stderr of a stdio server', () => {
  test('is cut when it floods, and says how much was left out', async () => {
    const clock = createFakeClock();
    const rig = createRig({ clock });
    const script = `for (let n = 0; n < 5_000; n += 1) process.stderr.write('line ' + n + '\\n');`;
    await expect(rig.open({ ...scriptedTarget(), args: ['-e', script] })).rejects.toMatchObject({
      reason: 'connect_failed',
    });
    expect(rig.stderr).toHaveLength(101);
    expect(rig.stderr.slice(98)).toEqual(['test: line 98', 'test: line 99', 'test: (4900 lines dropped)']);
  });

  test('goes where the definition says', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'behalf-stderr-'));
    const file = openSync(join(folder, 'log'), 'w');
    try {
      const rig = createRig();
      const toFile = await rig.open({ ...scriptedTarget(), stderr: file });
      const nowhere = await rig.open({ ...scriptedTarget(), stderr: 'ignore' });
      expect(rig.stderr).toEqual([]);
      await toFile.close();
      await nowhere.close();
      expect(await readFile(join(folder, 'log'), 'utf8')).toBe('started\n');
      await rig.open({ ...scriptedTarget(), stderr: 'pipe' });
      await eventually('the line', () => rig.stderr.includes('test: started'));
    } finally {
      closeSync(file);
      await rm(folder, { recursive: true });
    }
  });
});
