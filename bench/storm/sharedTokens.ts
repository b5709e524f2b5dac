import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Tokens in a file that several processes share, replaced as one piece. */
export interface SharedTokens<T> {
  read(): T | undefined;
  write(tokens: T): void;
  remove(): void;
}

export function sharedTokens<T>(file: string): SharedTokens<T> {
  let writes = 0;
  return {
    read() {
      try {
        return JSON.parse(readFileSync(file, 'utf8')) as T;
      } catch {
        return undefined;
      }
    },
    write(tokens) {
      const aside = `${file}.${process.pid}.${(writes += 1)}`;
      writeFileSync(aside, JSON.stringify(tokens));
      renameSync(aside, file);
    },
    remove: () => rmSync(file, { force: true }),
  };
}
