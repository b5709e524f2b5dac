import { KeyObject, X509Certificate, createHash, webcrypto } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/** The certificate and key of a server, as PEM. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A client's certificate, which is registered at a provider. */
export interface ClientCertificate extends IssuedCertificate {
  /** SHA-256 of the certificate as hex, the form that large providers use. */
  readonly thumbprint: string;
}

/** A certificate authority in memory. Its key is never stored. */
export interface DevAuthority {
  readonly caPem: string;
  /** Issues a server certificate for names and addresses. */
  issue(hosts?: readonly string[]): Promise<IssuedCertificate>;
  /** Issues a certificate for `private_key_jwt`. RSA, because such assertions use RS256 or PS256. */
  issueClient(name: string): Promise<ClientCertificate>;
  /** Writes the authority's certificate to a file and returns its path. */
  writeCaFile(directory: string): Promise<string>;
}

const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', 'localhost', '::1'];

const EC_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const RSA_ALGORITHM = {
  ...{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048 },
  publicExponent: new Uint8Array([1, 0, 1]),
};
const HOUR_MS = 60 * 60 * 1000;
/** Short, in case a system trusts this authority by mistake. */
const LIFETIME_MS = 7 * 24 * HOUR_MS;

export async function createDevAuthority(): Promise<DevAuthority> {
  const x509 = await loadX509();
  // The system clock, because verifiers of certificates also use it.
  const now = Date.now();
  const validity = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + LIFETIME_MS) };
  const subtle = webcrypto.subtle;
  const makeKeys = (algorithm: typeof EC_ALGORITHM | typeof RSA_ALGORITHM) =>
    subtle.generateKey(algorithm, true, ['sign', 'verify']);

  const authorityKeys = await makeKeys(EC_ALGORITHM);
  const name = 'CN=Behalf development authority';
  const { KeyUsageFlags } = x509;
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ name, keys: authorityKeys, signingAlgorithm: EC_ALGORITHM, ...validity },
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  });
  const caPem = `${root.toString('pem')}\n`;

  const issue = async (
    subject: string,
    keys: webcrypto.CryptoKeyPair,
    extensions: InstanceType<typeof x509.Extension>[],
  ): Promise<IssuedCertificate> => {
    const certificate = await x509.X509CertificateGenerator.create({
      ...{ subject: `CN=${subject}`, issuer: root.subject, publicKey: keys.publicKey, ...validity },
      ...{ signingKey: authorityKeys.privateKey, signingAlgorithm: EC_ALGORITHM },
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
        ...extensions,
      ],
    });
    return { cert: `${certificate.toString('pem')}\n`, key: toPem(KeyObject.from(keys.privateKey)) };
  };

  return {
    caPem,
    async issue(hosts = LOOPBACK_HOSTS) {
      const names = hosts.map((value) => ({
        type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const),
        value,
      }));
      return issue(hosts[0] ?? 'localhost', await makeKeys(EC_ALGORITHM), [
        new x509.SubjectAlternativeNameExtension(names),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      ]);
    },
    async issueClient(client) {
      const issued = await issue(client, await makeKeys(RSA_ALGORITHM), []);
      return { ...issued, thumbprint: computeThumbprint(issued.cert, 'sha256').toString('hex') };
    },
    async writeCaFile(directory) {
      const path = join(directory, 'development-ca.pem');
      await writeFile(path, caPem);
      return path;
    },
  };
}

/** The hash of the DER form, as in the JWT headers `x5t` (SHA-1) and `x5t#S256` (RFC 7515 sections 4.1.7 and 4.1.8). */
export function computeThumbprint(pem: string, hash: 'sha1' | 'sha256'): Buffer {
  return createHash(hash).update(new X509Certificate(pem).raw).digest();
}

function toPem(key: KeyObject): string {
  return String(key.export({ format: 'pem', type: 'pkcs8' }));
}

/** Loads the library on first use. It requires two functions for dependency injection, which is not used here. */
async function loadX509() {
  const reflect = Reflect as { getMetadata?: unknown; getOwnMetadata?: unknown };
  reflect.getMetadata ??= () => undefined;
  reflect.getOwnMetadata ??= () => undefined;
  return import('@peculiar/x509');
}

type Fetch = typeof globalThis.fetch;

/**
 * A `fetch` that trusts one more certificate authority. The global one trusts only those from the process start.
 * Redirects are not followed.
 */
export function createTrustingFetch(caPem: string | undefined): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
    const response = await send(url, request, body, caPem);
    const headers = new Headers();
    for (let index = 0; index < response.rawHeaders.length; index += 2) {
      headers.append(response.rawHeaders[index] ?? '', response.rawHeaders[index + 1] ?? '');
    }
    const status = response.statusCode ?? 0;
    if (status === 204 || status === 304) {
      response.resume();
      return new Response(null, { status, headers });
    }
    return new Response(Readable.toWeb(response) as ReadableStream, { status, headers });
  };
}

function send(url: URL, request: Request, body: Buffer | undefined, ca: string | undefined) {
  const { method, signal } = request;
  // Sets the length, because some servers do not read chunked bodies.
  const headers = { ...Object.fromEntries(request.headers), ...(body && { 'content-length': body.length }) };
  const startRequest = url.protocol === 'https:' ? tlsRequest : plainRequest;
  return new Promise<IncomingMessage>((resolve, reject) => {
    startRequest(url, { method, headers, signal, agent: false, ...(ca !== undefined && { ca }) }, resolve)
      .once('error', (error) => reject(new TypeError('fetch failed', { cause: error })))
      .end(body);
  });
}
