import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { WebFile, WebFiles } from './webFiles.ts';

/** Whatever else the folder holds is not ours to serve. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml; charset=utf-8'],
  ['.png', 'image/png'],
  ['.woff2', 'font/woff2'],
]);

/**
 * The interface as `tools/build.mjs` built it, with the compressed forms that stand beside its files. Read once: what is
 * served is what the process started with, and no request reads a path. Null when it was not built.
 */
export function readWeb(dir: string): WebFiles | null {
  const indexPath = join(dir, 'index.html');
  if (!existsSync(indexPath)) return null;
  const folder = join(dir, 'assets');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const assets = new Map<string, WebFile>();
  for (const name of names) {
    const file = readWebFile(join(folder, name));
    if (file) assets.set(name, file);
  }
  return { index: readFileSync(indexPath), assets };
}

function readWebFile(path: string): WebFile | undefined {
  const type = TYPES.get(extname(path));
  if (type === undefined) return undefined;
  const uncompressed = readFileSync(path);
  const [br, gzip] = [`${path}.br`, `${path}.gz`].map((variant) =>
    existsSync(variant) ? readFileSync(variant) : undefined,
  );
  const tag = createHash('sha256').update(uncompressed).digest('base64url').slice(0, 22);
  return { type, tag, uncompressed, ...(br && { br }), ...(gzip && { gzip }) };
}
