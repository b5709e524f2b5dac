import { createHash } from 'node:crypto';
import { mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PendingWriteStore } from '@behalf/gateway/ports';
import type { Clock, Random } from '@behalf/kernel';

/**
 * After a day, an unsaved token pair is useless: its access token has expired and the user has signed in again.
 */
export const PENDING_WRITE_TTL_MS = 24 * 60 * 60 * 1000;

interface PendingWriteFileParts {
  /** Created with the first entry. All processes of the store share it. */
  directory: string;
  clock: Clock;
  random: Random;
}

/**
 * One file per entry, readable only by this user. The file name does not reveal the owner. It contains a hash
 * of the content, so removing one entry never removes an entry that was added at the same time.
 */
export function createPendingWriteFiles({
  directory,
  clock,
  random,
}: PendingWriteFileParts): PendingWriteStore {
  const prefixOf = (id: string) => `${hashOf(id)}.`;
  const fileOf = (id: string, sealed: string) => join(directory, prefixOf(id) + hashOf(sealed));
  const isExpired = (writtenAt: number) => writtenAt + PENDING_WRITE_TTL_MS <= clock.now();

  async function listNames(id: string): Promise<string[]> {
    const names = (await ignoreMissing(readdir(directory))) ?? [];
    return names.filter((name) => name.startsWith(prefixOf(id)));
  }

  /** Removes entries that were never collected, and temporary files of processes that ended. */
  async function removeExpiredFiles(): Promise<void> {
    for (const name of await readdir(directory)) {
      const file = join(directory, name);
      const stats = await ignoreMissing(stat(file));
      if (stats && isExpired(stats.mtimeMs)) await rm(file, { force: true });
    }
  }

  return {
    async put(id, sealed) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const previousNames = await listNames(id).catch(() => []);
      const file = fileOf(id, sealed);
      // Written to a temporary file and renamed: a reader finds the complete entry or the previous one.
      const temporaryFile = join(directory, `temporary.${random.id()}`);
      await writeDurably(temporaryFile, sealed, clock.now());
      await rename(temporaryFile, file);
      const directoryHandle = await open(directory, 'r');
      try {
        await directoryHandle.sync();
      } finally {
        await directoryHandle.close();
      }
      const previousFiles = previousNames
        .map((name) => join(directory, name))
        .filter((other) => other !== file);
      // The entry is stored. A failure to remove older files is not an error.
      await Promise.all(previousFiles.map((other) => rm(other, { force: true }).catch(() => undefined)));
      await removeExpiredFiles().catch(() => undefined);
    },
    async find(id) {
      const files = await Promise.all(
        (await listNames(id)).map(async (name) => {
          const file = join(directory, name);
          const writtenAt = (await ignoreMissing(stat(file)))?.mtimeMs;
          return writtenAt === undefined || isExpired(writtenAt) ? [] : [{ file, writtenAt }];
        }),
      );
      const [newest] = files.flat().sort((a, b) => b.writtenAt - a.writtenAt);
      return (newest && (await ignoreMissing(readFile(newest.file, 'utf8')))) ?? null;
    },
    remove: (id, sealed) => rm(fileOf(id, sealed), { force: true }),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Flushed to disk before it counts as stored. The modification time is set to our clock. */
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

/** Another process may remove a file between listing and reading. */
async function ignoreMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Entries are lost when the process ends. */
export function createPendingWriteMap(clock: Clock): PendingWriteStore {
  const entries = new Map<string, { sealed: string; expiresAt: number }>();
  return {
    async put(id, sealed) {
      for (const [other, { expiresAt }] of [...entries]) if (expiresAt <= clock.now()) entries.delete(other);
      entries.set(id, { sealed, expiresAt: clock.now() + PENDING_WRITE_TTL_MS });
    },
    async find(id) {
      const entry = entries.get(id);
      return entry && entry.expiresAt > clock.now() ? entry.sealed : null;
    },
    async remove(id, sealed) {
      if (entries.get(id)?.sealed === sealed) entries.delete(id);
    },
  };
}
