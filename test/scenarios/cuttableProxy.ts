import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { BrowserContextOptions } from 'playwright-core';

/** The line between a window and everything it talks to, as a proxy. */
export interface CuttableProxy {
  /** For the window that is to use it. */
  readonly context: Pick<BrowserContextOptions, 'proxy'>;
  /** Ends what goes over it, in the middle of a sentence, and takes nothing more. */
  disconnect(): void;
  reconnect(): void;
  close(): Promise<void>;
}

/** A browser that is told to be offline lets go on what has begun; a line that is cut does not. */
export async function startCuttableProxy(): Promise<CuttableProxy> {
  const openSockets = new Set<Duplex>();
  let isDisconnected = false;
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    const forwarded = request(url, { method, headers, agent: false }, (upstreamResponse) => {
      outgoing.writeHead(upstreamResponse.statusCode ?? 502, upstreamResponse.rawHeaders);
      upstreamResponse.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  server.on('connect', ({ url = '' }, socket: Duplex, head: Buffer) => {
    const { hostname, port } = new URL(`https://${url}`);
    const forwarded = connect(Number(port || 443), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      forwarded.write(head);
      forwarded.pipe(socket).pipe(forwarded);
    });
    forwarded.on('error', () => socket.destroy());
    socket.on('error', () => forwarded.destroy()).on('close', () => forwarded.destroy());
  });
  server.on('connection', (socket) => {
    if (isDisconnected) {
      socket.destroy();
      return;
    }
    openSockets.add(socket);
    socket.on('close', () => openSockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const disconnect = () => {
    isDisconnected = true;
    for (const socket of openSockets) socket.destroy();
  };
  return {
    // Browsers leave a proxy out for this machine, unless they are told not to.
    context: { proxy: { server: `http://127.0.0.1:${port}`, bypass: '<-loopback>' } },
    disconnect,
    reconnect: () => void (isDisconnected = false),
    close() {
      disconnect();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
