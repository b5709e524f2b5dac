import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Request, Response } from 'express';

/** One file of the interface as it is sent. */
interface WebFile {
  readonly type: string;
  /** The strong tag of the plain bytes; a compressed form is another representation, and gets one of its own. */
  readonly tag: string;
  readonly uncompressed: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** The built interface, in memory. */
export interface WebFiles {
  /** The page that all its addresses begin with. */
  readonly index: Buffer;
  /** What the page loads, by its name below `/assets/`. */
  readonly assets: ReadonlyMap<string, WebFile>;
}

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

/** Sends a file in the smallest form that the caller takes; 304 when they have that form already. */
export function sendFile(req: Request, res: Response, { type, tag, uncompressed, br, gzip }: WebFile): void {
  // Whatever is chosen, a cache has to ask what the next one takes.
  res.set({ 'Content-Type': type, Vary: 'Accept-Encoding' });
  if (br && req.acceptsEncodings('br')) send(res, br, `${tag}-br`, 'br');
  else if (gzip && req.acceptsEncodings('gzip')) send(res, gzip, `${tag}-gzip`, 'gzip');
  else send(res, uncompressed, tag);
}

function send(res: Response, body: Buffer, tag: string, encoding?: string): void {
  if (encoding !== undefined) res.set('Content-Encoding', encoding);
  res.set('ETag', `"${tag}"`).send(body);
}
