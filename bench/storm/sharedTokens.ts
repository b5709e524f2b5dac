import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Tokens in a file that several processes share and replace atomically. */
export interface SharedTokens<T> {
  read(): T | undefined;
  write(tokens: T): void;
  remove(): void;
}

export function openSharedTokens<T>(file: string): SharedTokens<T> {
  let writeCount = 0;
  return {
    read() {
      try {
        return JSON.parse(readFileSync(file, 'utf8')) as T;
      } catch {
        return undefined;
      }
    },
    write(tokens) {
      const temporaryFile = `${file}.${process.pid}.${(writeCount += 1)}`;
      writeFileSync(temporaryFile, JSON.stringify(tokens));
      renameSync(temporaryFile, file);
    },
    remove: () => rmSync(file, { force: true }),
  };
}
