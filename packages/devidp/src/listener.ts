import { createServer, type Server as PlainServer } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { IssuedCertificate } from './tls/devAuthority.ts';

export type Listener = PlainServer | TlsServer;

export function createListener(certificate: IssuedCertificate | undefined): Listener {
  // On a busy machine a client may reuse a connection in the very moment in which the default of 5 s ends it.
  const options = { keepAliveTimeout: 65_000 };
  return certificate ? createTlsServer({ ...certificate, ...options }) : createServer(options);
}

/** The address it listens on, as a URL. */
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
