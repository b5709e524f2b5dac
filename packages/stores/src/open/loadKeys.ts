import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Random } from '@behalf/kernel';

export interface KeySource {
  /** Keys set by the operator, 64 hex characters each. */
  configured: readonly string[] | undefined;
  dataDir: string;
  random: Random;
}

/**
 * The sealing keys: the keys of the operator, or a key generated once next to the embedded store, readable only
 * by this user.
 */
export function loadKeys({ configured, dataDir, random }: KeySource): readonly Uint8Array[] {
  if (configured && configured.length > 0) return configured.map((key) => Buffer.from(key, 'hex'));
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'creds.key');
  const existing = readKeyFile(file);
  if (existing) {
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    return [existing];
  }
  // Written to a temporary file and linked into place: two concurrent starts read the same complete key.
  const temporaryFile = join(dataDir, `creds.key.${random.id()}`);
  const text = Buffer.from(random.bytes(32)).toString('hex') + '\n';
  writeFileSync(temporaryFile, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(temporaryFile, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporaryFile);
  }
  // Flushed to disk before first use: a power failure must not leave sealed records without their key.
  const directory = openSync(dataDir, 'r');
  fsyncSync(directory);
  closeSync(directory);
  const created = readKeyFile(file);
  if (!created) throw new Error(`The key file ${file} disappeared while it was created`);
  return [created];
}

function readKeyFile(file: string): Uint8Array | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    throw new Error(`The key file ${file} does not hold 64 hex characters. Restore it from a backup.`);
  }
  return Buffer.from(text, 'hex');
}
