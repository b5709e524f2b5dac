import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { PrimaryStore } from '@behalf/gateway/ports';
import { CommandError, systemParts } from './environment.ts';

/** A store that a command line names. */
type StoreTarget = { kind: 'sqlite'; file: string } | { kind: 'mongo'; uri: string };

/**
 * `sqlite:FILE`, a MongoDB URI, or `env:NAME` for a variable with such a value. Other users can see arguments, but
 * not variables.
 */
export function parseStoreTarget(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): StoreTarget | null {
  const [, variable] = /^env:(.+)$/.exec(text) ?? [];
  if (variable !== undefined) {
    const value = env[variable];
    if (!value) throw new CommandError(`env:${variable}: the variable ${variable} is not set.`);
    const target = value.startsWith('env:') ? null : parseStoreTarget(value, env);
    // The message does not contain the value, which may be a password.
    if (!target)
      throw new CommandError(`env:${variable}: its value is neither sqlite:FILE nor a MongoDB URI.`);
    return target;
  }
  if (/^mongodb(\+srv)?:\/\//.test(text)) return { kind: 'mongo', uri: text };
  const [, file] = /^sqlite:(.+)$/.exec(text) ?? [];
  return file === undefined ? null : { kind: 'sqlite', file };
}

/** Compares normalized forms. The copy itself detects the rest, such as a second DNS name. */
export function isSameStore(first: StoreTarget, second: StoreTarget): boolean {
  if (first.kind === 'sqlite')
    return second.kind === 'sqlite' && resolveFile(first.file) === resolveFile(second.file);
  return second.kind === 'mongo' && normalizeUri(first.uri) === normalizeUri(second.uri);
}

export async function openStoreTarget(
  target: StoreTarget,
  { mustExist }: { mustExist: boolean },
): Promise<PrimaryStore> {
  if (target.kind === 'mongo') {
    const { openMongoStore } = await import('@behalf/stores/mongo');
    return openMongoStore({ ...systemParts, uri: target.uri });
  }
  if (mustExist && !existsSync(target.file)) {
    throw new CommandError(`${target.file}: there is no such database.`);
  }
  if (!existsSync(dirname(target.file))) {
    throw new CommandError(`${target.file}: there is no directory ${dirname(target.file)}. Create it first.`);
  }
  const { openSqliteStore } = await import('@behalf/stores/sqlite');
  return openSqliteStore({ ...systemParts, file: target.file });
}

/** The file with symbolic links resolved. For a file that does not exist yet, its directory is resolved. */
function resolveFile(file: string): string {
  if (existsSync(file)) return realpathSync(file);
  const directory = dirname(resolve(file));
  return join(existsSync(directory) ? realpathSync(directory) : directory, basename(file));
}

const DEFAULT_DATABASE = 'behalf';
const DEFAULT_PORT = '27017';

/** Hosts and database. Neither the account nor the options change which store it is. */
function normalizeUri(uri: string): string {
  const [, scheme = '', authority = '', path = ''] =
    /^(mongodb(?:\+srv)?):\/\/([^/?]*)\/?([^?]*)/.exec(uri) ?? [];
  const hosts = authority
    .slice(authority.lastIndexOf('@') + 1)
    .toLowerCase()
    .split(',')
    .map((host) => (scheme === 'mongodb' && !/:\d+$/.test(host) ? `${host}:${DEFAULT_PORT}` : host))
    .sort();
  return JSON.stringify([hosts, path || DEFAULT_DATABASE]);
}
