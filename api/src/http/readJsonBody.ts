import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@behalf/gateway';

/** What was sent is no JSON, or does not say that it is. */
export class UnreadableBody extends GatewayError {}

export const MAX_BODY_BYTES = 1024 * 1024;

/** The body of a hot request: JSON or nothing. The same limit and the same errors as everywhere else. */
export function readJsonBody(req: IncomingMessage): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (Number(req.headers['content-length'] ?? 0) > MAX_BODY_BYTES)
      return reject(new GatewayError('REQUEST_TOO_LARGE'));
    // Whoever left before this will send nothing more, and no event tells of it any more.
    if (req.destroyed && !req.readableEnded) return reject(new GatewayError('REQUEST_INVALID'));
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) {
        chunks.length = 0;
        req.removeAllListeners('data').pause();
        reject(new GatewayError('REQUEST_TOO_LARGE'));
        return;
      }
      chunks.push(chunk);
    });
    req.on('end', () => {
      const [singleChunk] = chunks;
      const text = (chunks.length === 1 && singleChunk ? singleChunk : Buffer.concat(chunks)).toString(
        'utf8',
      );
      const body = parse(req, text);
      if (body instanceof UnreadableBody) reject(body);
      else resolve(body);
    });
    // Only a caller who leaves in the middle ends a body like this.
    req.on('error', () => reject(new GatewayError('REQUEST_INVALID')));
  });
}

function parse(req: IncomingMessage, text: string): unknown {
  if (text === '') return undefined;
  const type = req.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type) || req.headers['content-encoding'] !== undefined) {
    return unreadableBody();
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return unreadableBody();
  }
}

function unreadableBody(): UnreadableBody {
  return new UnreadableBody('REQUEST_INVALID', {
    detail: 'The body cannot be parsed as JSON. Send Content-Type: application/json and no Content-Encoding.',
  });
}
