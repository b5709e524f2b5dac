import type { Request, Response } from 'express';
import type { WebFile } from './webFiles.ts';

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
