import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PendingWriteStore } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';
import { ORPHAN_MS } from './orphanAge.ts';

export interface OrphanFileParts {
  /** Made when the first is put in. All processes of the store share it. */
  directory: string;
  clock: Clock;
  random: Random;
}

/**
 * One file for each, readable by us alone. Whose it is, its name does not tell; what it holds is part of its name, so that
 * taking one away can never take away another that was put in at the same moment.
 */
export function createOrphanFiles({ directory, clock, random }: OrphanFileParts): PendingWriteStore {
  const prefixOf = (id: string) => `${hashOf(id)}.`;
  const fileOf = (id: string, sealed: string) => join(directory, prefixOf(id) + hashOf(sealed));
  const isOver = (writtenAt: number) => writtenAt + ORPHAN_MS <= clock.now();

  async function namesOf(id: string): Promise<string[]> {
    const names = (await unlessMissing(readdir(directory))) ?? [];
    return names.filter((name) => name.startsWith(prefixOf(id)));
  }

  /** What was never taken, and drafts of processes that died. */
  async function sweep(): Promise<void> {
    for (const name of await readdir(directory)) {
      const file = join(directory, name);
      const found = await unlessMissing(stat(file));
      if (found && isOver(found.mtimeMs)) await rm(file, { force: true });
    }
  }

  return {
    async put(id, sealed) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const before = await namesOf(id).catch(() => []);
      const file = fileOf(id, sealed);
      // Written aside and renamed into place: who looks for it finds the whole of it, or what was there before.
      const draft = join(directory, `temporary.${random.id()}`);
      await writeDurably(draft, sealed, clock.now());
      await rename(draft, file);
      const entry = await open(directory, 'r');
      try {
        await entry.sync();
      } finally {
        await entry.close();
      }
      const older = before.map((name) => join(directory, name)).filter((other) => other !== file);
      // It is kept: what else lies there is no reason to say that it is not.
      await Promise.all(older.map((other) => rm(other, { force: true }).catch(() => undefined)));
      await sweep().catch(() => undefined);
    },
    async find(id) {
      const found = await Promise.all(
        (await namesOf(id)).map(async (name) => {
          const file = join(directory, name);
          const writtenAt = (await unlessMissing(stat(file)))?.mtimeMs;
          return writtenAt === undefined || isOver(writtenAt) ? [] : [{ file, writtenAt }];
        }),
      );
      const [last] = found.flat().sort((one, other) => other.writtenAt - one.writtenAt);
      return (last && (await unlessMissing(readFile(last.file, 'utf8')))) ?? null;
    },
    remove: (id, sealed) => rm(fileOf(id, sealed), { force: true }),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** On the disk before it counts as kept, with our time as its age. */
async function writeDurably(file: string, text: string, now: number): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.utimes(now / 1000, now / 1000);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Another process may take a file away between a look at the directory and a look into it. */
async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
