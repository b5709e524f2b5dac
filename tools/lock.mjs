import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Runs one build at a time. `mkdir` is atomic; the process ID in the directory shows waiting processes whether the
 * holder is still alive. If two of them remove an abandoned lock at the same moment, both build the same files.
 */
export async function withLock(dir, work) {
  for (;;) {
    try {
      mkdirSync(dir);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (isAbandoned(dir)) rmSync(dir, { recursive: true, force: true });
      else await delay(50);
    }
  }
  writeFileSync(join(dir, 'pid'), String(process.pid));
  const release = () => rmSync(dir, { recursive: true, force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}

const emptySince = new Map();

function isAbandoned(dir) {
  let pid;
  try {
    pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
  } catch {
    // Between mkdir and the write the lock has no ID yet. A lock that stays empty is abandoned.
    const since = emptySince.get(dir) ?? Date.now();
    emptySince.set(dir, since);
    return Date.now() - since > 5_000;
  }
  emptySince.delete(dir);
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}
