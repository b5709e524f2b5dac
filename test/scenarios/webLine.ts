import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { BrowserContextOptions } from 'playwright-core';

/** The line between a window and everything it talks to, as a proxy. */
export interface Line {
  /** For the window that is to use it. */
  readonly context: Pick<BrowserContextOptions, 'proxy'>;
  /** Ends what goes over it, in the middle of a sentence, and takes nothing more. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** A browser that is told to be offline lets go on what has begun; a line that is cut does not. */
export async function startLine(): Promise<Line> {
  const open = new Set<Duplex>();
  let isCut = false;
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming;
    const onward = request(url, { method, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.on('connect', ({ url = '' }, socket: Duplex, head: Buffer) => {
    const { hostname, port } = new URL(`https://${url}`);
    const onward = connect(Number(port || 443), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy());
  });
  server.on('connection', (socket) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    isCut = true;
    for (const socket of open) socket.destroy();
  };
  return {
    // Browsers leave a proxy out for this machine, unless they are told not to.
    context: { proxy: { server: `http://127.0.0.1:${port}`, bypass: '<-loopback>' } },
    cut,
    mend: () => void (isCut = false),
    close() {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
