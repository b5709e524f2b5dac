import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '@behalf/gateway';
import { type Cancellation, LightCancellation, toAbortSignal } from '@behalf/kernel';
import type { Request } from 'express';

/** What is needed of a contract's schema. */
interface BodySchema<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: { path: PropertyKey[]; code: string; message: string }[] } };
}

export function readBody<T>(req: Request, schema: BodySchema<T>): T {
  return parseBody(req.body, schema);
}

/** The body as the schema says, or REQUEST_INVALID with every field that is wrong. */
export function parseBody<T>(body: unknown, schema: BodySchema<T>): T {
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  throw new GatewayError('REQUEST_INVALID', {
    errors: parsed.error.issues.map(({ path, code, message }) => ({
      path: path.map(String).join('.'),
      code,
      message,
    })),
  });
}

/** A plain HTML form wants a page back, a program wants JSON. */
export function isForm(req: Request): boolean {
  return typeof req.is('application/x-www-form-urlencoded') === 'string';
}

/** What was sent is no JSON, or does not say that it is. */
export class UnreadableBody extends GatewayError {}

const MAX_BODY_BYTES = 1024 * 1024;

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

/** Aborts when the connection ends before the answer: work for nobody stops. */
export function callerDisconnect(res: ServerResponse): Cancellation {
  const cancellation = new LightCancellation();
  const onClose = () => {
    if (!res.writableFinished) cancellation.abort(new DOMException('The client disconnected', 'AbortError'));
  };
  // Somebody may have left while it was still being found out who they are.
  if (res.closed) onClose();
  else res.once('close', onClose);
  return cancellation;
}

/** The same as the platform's signal. */
export function createDisconnectSignal(res: ServerResponse): AbortSignal {
  return toAbortSignal(callerDisconnect(res));
}

/**
 * Whose address a request comes from. Of what proxies say only the last `proxies` are believed: everything before was
 * written by whoever called them.
 */
export function createClientAddressReader(trustedProxies: number): (req: IncomingMessage) => string {
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? 'unknown';
    if (trustedProxies === 0) return peer;
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',');
    const hops = [...forwarded.split(',').map((hop) => hop.trim()), peer].filter((hop) => hop !== '');
    return hops[Math.max(0, hops.length - 1 - trustedProxies)] ?? peer;
  };
}
