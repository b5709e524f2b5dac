import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { connectLoopback } from './rig.ts';

export interface TestProxy {
  port: number;
  /** What the proxy was asked to reach, as `host:port`, with the credentials it was shown. */
  requests: { target: string; credentials: string | undefined }[];
  close(): void;
}

/** A real CONNECT proxy that leads every tunnel to one loopback port, or refuses with `status`. */
export async function connectProxy(upstream: number, status = 200): Promise<TestProxy> {
  const requests: TestProxy['requests'] = [];
  const sockets = new Set<Socket>();
  const server = createHttpServer();
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', (request, socket: Socket) => {
    requests.push({ target: request.url ?? '', credentials: request.headers['proxy-authorization'] });
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    void connectLoopback(upstream).then((upstreamSocket) => {
      socket.write('HTTP/1.1 200 Connection established\r\nx-proxy: yes\r\n\r\n');
      pipeBoth(socket, upstreamSocket);
    });
  });
  return { port: await listen(server), requests, close: () => closeServer(server, sockets) };
}

/** A real SOCKS5 proxy (RFC 1928) that leads every tunnel to one loopback port. */
export async function socksProxy(upstream: number, password?: string): Promise<TestProxy> {
  const requests: TestProxy['requests'] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let state: 'greeting' | 'password' | 'request' = 'greeting';
    let credentials: string | undefined;
    const onData = (bytes: Buffer) => {
      if (state === 'greeting') {
        state = password === undefined ? 'request' : 'password';
        socket.write(Buffer.from([5, password === undefined ? 0 : 2]));
      } else if (state === 'password') {
        const nameLength = bytes.readUInt8(1);
        const name = bytes.subarray(2, 2 + nameLength).toString();
        const sentPassword = bytes.subarray(3 + nameLength).toString();
        credentials = `${name}:${sentPassword}`;
        state = 'request';
        socket.write(Buffer.from([1, sentPassword === password ? 0 : 1]));
      } else {
        requests.push({ target: socksTarget(bytes), credentials });
        socket.off('data', onData);
        void connectLoopback(upstream).then((upstreamSocket) => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          pipeBoth(socket, upstreamSocket);
        });
      }
    };
    socket.on('data', onData);
  });
  return { port: await listen(server), requests, close: () => closeServer(server, sockets) };
}

function socksTarget(bytes: Buffer): string {
  const port = bytes.readUInt16BE(bytes.length - 2);
  const address = bytes.subarray(4, bytes.length - 2);
  if (bytes[3] === 1) return `${address.join('.')}:${port}`;
  return `${bytes[3] === 3 ? address.subarray(1).toString() : `[${address.toString('hex')}]`}:${port}`;
}

function pipeBoth(a: Socket, b: Socket): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function closeServer(server: Server, sockets: Set<Socket>): void {
  for (const socket of sockets) socket.destroy();
  server.close();
}
