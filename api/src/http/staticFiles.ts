import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Request, Response } from 'express';

/** A file of the interface. */
interface WebFile {
  readonly type: string;
  /** The strong ETag of the uncompressed bytes. Each compressed form is another representation with its own ETag. */
  readonly tag: string;
  readonly uncompressed: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** The built interface in memory. */
export interface WebFiles {
  /** The HTML page of the single-page interface. */
  readonly index: Buffer;
  /** The files below `/assets/`, by name. */
  readonly assets: ReadonlyMap<string, WebFile>;
}

/** The served file types. Other files in the folder are ignored. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml; charset=utf-8'],
  ['.png', 'image/png'],
  ['.woff2', 'font/woff2'],
]);

/**
 * Reads the interface that `tools/build.mjs` built, with its precompressed files. Requests never read from disk. Null if the
 * interface was not built.
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

/** Sends a file in the smallest encoding that the client accepts; 304 if the client already has it. */
export function sendFile(req: Request, res: Response, { type, tag, uncompressed, br, gzip }: WebFile): void {
  // Set for every encoding, so that caches distinguish clients by what they accept.
  res.set({ 'Content-Type': type, Vary: 'Accept-Encoding' });
  if (br && req.acceptsEncodings('br')) send(res, br, `${tag}-br`, 'br');
  else if (gzip && req.acceptsEncodings('gzip')) send(res, gzip, `${tag}-gzip`, 'gzip');
  else send(res, uncompressed, tag);
}

function send(res: Response, body: Buffer, tag: string, encoding?: string): void {
  if (encoding !== undefined) res.set('Content-Encoding', encoding);
  res.set('ETag', `"${tag}"`).send(body);
}
