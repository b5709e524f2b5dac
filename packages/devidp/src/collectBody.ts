import { IncomingMessage } from 'node:http';

/** A form of tokens is longer than one of buttons; nobody has a reason to send more. */
const MAX_BODY_BYTES = 200_000;

export async function collectBody(req: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new Error('The body is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The same request with its body to be read once more: a stream has only one reader, and the library wants to be it. */
export function replayRequest(req: IncomingMessage, body: Buffer): IncomingMessage {
  const copy = new IncomingMessage(req.socket);
  const { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor } = req;
  Object.assign(copy, { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor });
  copy.complete = true;
  copy.push(body);
  copy.push(null);
  return copy;
}
