import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '@behalf/gateway';
import { type Cancellation, LightCancellation, toAbortSignal } from '@behalf/kernel';
import type { Request } from 'express';

/** A zod schema, as far as it is used here. */
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

/** Validates a body or a query. Throws REQUEST_INVALID with all invalid fields. */
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

/** Whether an HTML form was submitted. Forms get pages as responses, other clients JSON. */
export function isForm(req: Request): boolean {
  return typeof req.is('application/x-www-form-urlencoded') === 'string';
}

/** The body is not JSON, or has another Content-Type. */
export class UnreadableBody extends GatewayError {}

const MAX_BODY_BYTES = 1024 * 1024;

/** Reads the JSON body of a fast route, with the same limit and errors as Express routes. Undefined without a body. */
export function readJsonBody(req: IncomingMessage): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (Number(req.headers['content-length'] ?? 0) > MAX_BODY_BYTES)
      return reject(new GatewayError('REQUEST_TOO_LARGE'));
    // The client disconnected before: no further event will be emitted.
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
    // The client disconnected while sending the body.
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

/** Aborts when the client disconnects before the response is complete. */
export function callerDisconnect(res: ServerResponse): Cancellation {
  const cancellation = new LightCancellation();
  const onClose = () => {
    if (!res.writableFinished) cancellation.abort(new DOMException('The client disconnected', 'AbortError'));
  };
  // The client may have disconnected during authentication.
  if (res.closed) onClose();
  else res.once('close', onClose);
  return cancellation;
}

/** As `callerDisconnect`, as a platform `AbortSignal`. */
export function createDisconnectSignal(res: ServerResponse): AbortSignal {
  return toAbortSignal(callerDisconnect(res));
}

export type ClientAddressReader = (req: IncomingMessage) => string;

/**
 * The IP address of the client. Only the last `trustedProxies` entries of `X-Forwarded-For` are trusted: the client itself can
 * send the entries before them.
 */
export function createClientAddressReader(trustedProxies: number): ClientAddressReader {
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? 'unknown';
    if (trustedProxies === 0) return peer;
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',');
    const hops = [...forwarded.split(',').map((hop) => hop.trim()), peer].filter((hop) => hop !== '');
    return hops[Math.max(0, hops.length - 1 - trustedProxies)] ?? peer;
  };
}
