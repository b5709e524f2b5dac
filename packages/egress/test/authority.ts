import { webcrypto } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

// The library asks for metadata of decorators when it is loaded; nothing that is used here has any.
const none = () => undefined;
if (!('getMetadata' in Reflect)) Object.assign(Reflect, { getMetadata: none, getOwnMetadata: none });
const x509 = await import('@peculiar/x509');

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const makeKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

/** A certificate authority that lives as long as its test. */
export interface TestAuthority {
  /** Its own certificate, as PEM. */
  ca: string;
  /** A key and a certificate for these names and addresses, as PEM. */
  issue(...names: string[]): Promise<{ key: string; cert: string }>;
}

export async function createAuthority(name = 'Test authority'): Promise<TestAuthority> {
  const keys = await makeKeys();
  const validity = {
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 86_400_000),
    signingAlgorithm: algorithm,
  };
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ ...validity, name: `CN=${name}`, keys, serialNumber: '01' },
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  let serial = 1;
  return {
    ca: root.toString('pem'),
    async issue(...names) {
      const leafKeys = await makeKeys();
      serial += 1;
      const certificate = await x509.X509CertificateGenerator.create({
        ...{ ...validity, subject: `CN=${names[0] ?? ''}`, issuer: root.subject },
        ...{ publicKey: leafKeys.publicKey, signingKey: keys.privateKey },
        serialNumber: serial.toString(16).padStart(2, '0'),
        extensions: [
          new x509.SubjectAlternativeNameExtension(
            names.map((value) => ({ type: /^[0-9.]+$/.test(value) ? 'ip' : 'dns', value })),
          ),
        ],
      });
      const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', leafKeys.privateKey)).toString(
        'base64',
      );
      return {
        key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----`,
        cert: certificate.toString('pem'),
      };
    },
  };
}

export interface SecureSite {
  port: number;
  server: Server;
  /** Connections whose hand-shake came to its end. */
  connections: () => number;
  /** Every request that was seen, by its path. */
  requests: string[];
  close(): Promise<void>;
}

/** A real TLS server on loopback that answers `secure`, or as `answer` says. */
export async function serveSecurely(
  pair: { key: string; cert: string },
  listener: Parameters<typeof createServer>[1] = (_request, response) => void response.end('secure'),
): Promise<SecureSite> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer(pair, (request, response) => {
    requests.push(request.url ?? '');
    listener(request, response);
  });
  server.on('secureConnection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    server,
    connections: () => connections,
    requests,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
