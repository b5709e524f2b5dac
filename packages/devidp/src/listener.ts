import { IncomingMessage, type Server as PlainServer, createServer } from 'node:http';
import { Server as TlsServer, createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { IssuedCertificate } from './devAuthority.ts';

export type Listener = PlainServer | TlsServer;

export function createListener(certificate: IssuedCertificate | undefined): Listener {
  // Longer than the default of 5 s, so that a client on a busy machine does not reuse a connection that the server
  // is just closing.
  const options = { keepAliveTimeout: 65_000 };
  return certificate ? createTlsServer({ ...certificate, ...options }) : createServer(options);
}

/** Starts listening and returns the URL. */
export async function startListening(server: Listener, port: number, host: string): Promise<URL> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const { address, port: actualPort, family } = server.address() as AddressInfo;
  const scheme = server instanceof TlsServer ? 'https' : 'http';
  return new URL(`${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}`);
}

export function closeListener(server: Listener): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** The maximum size of a token request. */
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

/** Creates an equal request with an unread body for the library, which reads the stream itself. */
export function replayRequest(req: IncomingMessage, body: Buffer): IncomingMessage {
  const copy = new IncomingMessage(req.socket);
  const { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor } = req;
  Object.assign(copy, { method, url, headers, rawHeaders, httpVersion, httpVersionMajor, httpVersionMinor });
  copy.complete = true;
  copy.push(body);
  copy.push(null);
  return copy;
}
