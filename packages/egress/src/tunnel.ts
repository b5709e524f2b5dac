import type { Duplex } from 'node:stream';
import { parseAddress } from './address.ts';
import type { Proxy } from './proxyUrl.ts';
import { readBytes } from './readBytes.ts';

/** Asks a proxy, over a socket to it, for a tunnel to `host:port`. Throws when it refuses. */
export function openTunnel(socket: Duplex, proxy: Proxy, host: string, port: number): Promise<void> {
  return proxy.kind === 'socks5'
    ? socksConnect(socket, proxy, host, port)
    : httpConnect(socket, proxy, host, port);
}

/** RFC 9110 section 9.3.6. */
async function httpConnect(
  socket: Duplex,
  { credentials }: Proxy,
  host: string,
  port: number,
): Promise<void> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (credentials) {
    const basicCredentials = Buffer.from(`${credentials.username}:${credentials.password}`).toString(
      'base64',
    );
    lines.push(`Proxy-Authorization: Basic ${basicCredentials}`);
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const head = await readBytes(socket, endOfHead, 16_384);
  if (!/^HTTP\/1\.[01] 2[0-9]{2}[ \r]/.test(head.toString('latin1')))
    throw new Error('The proxy refused the connection');
}

function endOfHead(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  return headEnd < 0 ? undefined : headEnd + 4;
}

/** RFC 1928, with the user name and password of RFC 1929. */
async function socksConnect(
  socket: Duplex,
  { credentials }: Proxy,
  host: string,
  port: number,
): Promise<void> {
  const method = credentials ? 2 : 0;
  socket.write(Buffer.from([5, 1, method]));
  const greeting = await readBytes(socket, () => 2, 2);
  if (greeting[0] !== 5 || greeting[1] !== method)
    throw new Error('The proxy requires an unsupported authentication method');
  if (credentials) {
    socket.write(
      Buffer.concat([
        Buffer.from([1]),
        toSocksField(credentials.username),
        toSocksField(credentials.password),
      ]),
    );
    const authResponse = await readBytes(socket, () => 2, 2);
    if (authResponse[1] !== 0) throw new Error('The proxy refused the credentials');
  }
  socket.write(
    Buffer.concat([Buffer.from([5, 1, 0]), socksAddress(host), Buffer.from([port >> 8, port & 0xff])]),
  );
  const connectResponse = await readBytes(socket, socksReplyLength, 262);
  if (connectResponse[0] !== 5 || connectResponse[1] !== 0)
    throw new Error('The proxy refused the connection');
}

function socksAddress(host: string): Buffer {
  const address = parseAddress(host);
  if (!address) return Buffer.concat([Buffer.from([3]), toSocksField(host)]);
  return Buffer.concat([Buffer.from([address.bytes.length === 4 ? 1 : 4]), address.bytes]);
}

function socksReplyLength(bytes: Buffer): number | undefined {
  const [, , , addressType, nameLength] = bytes;
  if (addressType === undefined || nameLength === undefined) return undefined;
  if (addressType === 1) return 10;
  return addressType === 4 ? 22 : 7 + nameLength;
}

function toSocksField(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length === 0 || bytes.length > 255) throw new Error('A SOCKS5 field has 1 to 255 bytes');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
